// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// A poll of an upstream: the request for its manifest, and for unknown documents in it.
package struct UpstreamPoll: Sendable {
    /// The most bytes of a manifest or document in another layout than agents write, which costs 25 times as much to
    /// parse.
    static let anyLayoutLimit = 4 << 20
    private static let maxLists = 10_000

    package var url: UpstreamURL
    /// The validators of the request for the manifest; `nil` to get it unconditionally.
    package var validators: Validators?
    package var bypassesCaches = false
    package var accepted: UpstreamMemo?
    package var index: UpstreamIndex?
    package var settings = UpstreamSettings()
    /// The documents that arrived in earlier polls that failed.
    package var found: [Digest: UpstreamDocument] = [:]
    /// The sizes of renditions to take over, in pixels.
    package var renditions: Set<Int> = []
    /// A number that distinguishes polls under the current settings from earlier ones.
    package var epoch = 0

    package var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Accept", value: "application/json,*/*;q=0.1"), (name: "Accept-Encoding", value: "identity"),
        ]
        if bypassesCaches { fields.append(Self.bypass) }
        if let tag = validators?.etag { fields.append(("If-None-Match", tag)) }
        if let date = validators?.lastModified { fields.append(("If-Modified-Since", date)) }
        return fields
    }

    package var documentFields: [(name: String, value: String)] {
        [(name: "Accept", value: "*/*"), (name: "Accept-Encoding", value: "identity")]
            + (bypassesCaches ? [Self.bypass] : [])
    }

    private static let bypass = (name: "Cache-Control", value: "no-cache")

    /// The validators of a response that brought a manifest.
    ///
    /// Servers derive them from a time in whole seconds, so they do not identify a file that changed a moment ago (RFC
    /// 9110, section 8.8.2.2).
    package static func validators(of response: StoredResponse) -> Validators {
        if let modified = response.lastModified, response.date < modified + .seconds(2) { return Validators() }
        return response.validators
    }

    package func isKnown(_ digest: Digest) -> Bool { index != nil && accepted?.sha256 == digest }

    package func validate(
        _ bytes: [UInt8], digest: Digest, now: Timestamp
    ) throws(UpstreamFailure) -> (manifest: Manifest, memo: UpstreamMemo) {
        let manifest: Manifest
        do {
            manifest = try Manifest(json: bytes, anyLayoutUpTo: Self.anyLayoutLimit)
        } catch {
            throw UpstreamFailure(.damaged, "its manifest cannot be read: \(error.clause)")
        }
        guard manifest.lists.count <= Self.maxLists else {
            throw UpstreamFailure(.damaged, "its manifest names more than \(grouped(Self.maxLists)) lists")
        }
        let memo = UpstreamMemo(
            url: url.description, published: manifest.published, generation: manifest.generation, sha256: digest)
        try memo.validate(at: now)
        try accepted?.validate(memo)
        return (manifest, memo)
    }

    package func document(_ bytes: [UInt8], of list: Manifest.List) throws(UpstreamFailure) -> UpstreamDocument {
        guard Digest.of(bytes) == list.sha256 else {
            throw UpstreamFailure(.incomplete, "\(list.document) does not have its digest")
        }
        do {
            return try UpstreamDocument(json: bytes, old: index, renditions: renditions)
        } catch {
            throw UpstreamFailure(.damaged, "\(list.document) cannot be read: \(error.clause)")
        }
    }
}

package struct UpstreamAnswer: Sendable {
    package enum Outcome: Sendable {
        /// The manifest is unchanged; with the response's validators, if the manifest was sent again.
        case unchanged(Validators? = nil)
        case accepted(UpstreamContents)
        /// The poll failed; `found` are the documents that arrived.
        case failed(UpstreamFailure, found: [Digest: UpstreamDocument] = [:])
    }

    package var url: UpstreamURL
    package var epoch: Int
    package var outcome: Outcome

    package init(url: UpstreamURL, epoch: Int = 0, _ outcome: Outcome) {
        self.url = url
        self.epoch = epoch
        self.outcome = outcome
    }
}

package struct UpstreamDocument: Sendable {
    package var contents: UpstreamIndex.Document
    package var changes: [IconURL]
    /// The size of the document's text, in bytes: an upper bound for the parts of it that are kept.
    package let bytes: Int

    /// The longest URL that is kept, in bytes: lists have no longer server URLs.
    private static let longestURL = 8192

    /// Parses a list document; `old` are the entries known before.
    ///
    /// Keeps renditions in the given sizes, in pixels.
    package init(json: [UInt8], old: UpstreamIndex?, renditions: Set<Int> = []) throws(FormatError) {
        // The line of a ready icon has about 300 bytes, which gives the number of entries.
        let capacity = json.count / 256
        self = try AppListDocument.reduce(
            json, anyLayoutUpTo: UpstreamPoll.anyLayoutLimit, into: { Self(capacity: capacity, bytes: json.count) }
        ) {
            $0.append($1, old: old)
            if !$1.renditions.isEmpty { $0.contents.appendRenditions(of: $1, in: renditions) }
        }
    }

    private init(capacity: Int, bytes: Int) {
        (contents, changes, self.bytes) = (UpstreamIndex.Document(capacity: capacity), [], bytes)
    }

    private mutating func append(_ app: AppListDocument.App, old: UpstreamIndex?) {
        guard app.icon.text.utf8.count <= Self.longestURL else { return }
        let entry = UpstreamIndex.Entry(app)
        contents.append(app.icon, entry)
        if old?[app.icon] != entry { changes.append(app.icon) }
    }
}

/// An accepted manifest of an upstream, with its documents.
package struct UpstreamContents: Sendable {
    package var memo: UpstreamMemo
    package var validators: Validators
    package var index: UpstreamIndex
    package var changes: [IconURL]

    /// Combines the new documents of a manifest with the known ones in `old`.
    package init(
        _ memo: UpstreamMemo, _ validators: Validators, _ manifest: Manifest, new: [Digest: UpstreamDocument],
        old: UpstreamIndex?
    ) {
        self.memo = memo
        self.validators = validators
        var documents = new.mapValues(\.contents)
        for list in manifest.lists.values where documents[list.sha256] == nil {
            documents[list.sha256] = old?.documents[list.sha256]
        }
        index = UpstreamIndex(documents)
        changes = Array(Set(new.values.lazy.flatMap(\.changes)))
    }
}
