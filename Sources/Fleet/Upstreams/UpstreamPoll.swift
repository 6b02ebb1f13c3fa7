// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// A look at an upstream: its manifest is requested, and the documents in it that are not known.
package struct UpstreamPoll: Sendable {
    /// The most bytes of a manifest or document that is not laid out as agents write it: reading it takes 25 times as much.
    static let anyLayoutLimit = 4 << 20
    /// The most lists of a manifest.
    private static let maxLists = 10_000

    package var url: UpstreamURL
    /// What makes the request for the manifest conditional; `nil` if it has to come.
    package var validators: Validators?
    /// Whether caches on the way are told to ask the server.
    package var bypassesCaches: Bool
    /// The manifest that was accepted last.
    package var accepted: UpstreamMemo?
    /// What is known of the upstream.
    package var index: UpstreamIndex?
    /// The keys of which one must have signed the manifest; none if no signature is asked for.
    package var keys: [PublicKey]
    /// Documents that a poll brought which failed.
    package var found: [Digest: UpstreamDocument]
    /// What tells polls under these settings from earlier ones.
    package var epoch: Int

    package init(
        url: UpstreamURL, validators: Validators? = nil, bypassesCaches: Bool = false, accepted: UpstreamMemo?,
        index: UpstreamIndex?, keys: [PublicKey], found: [Digest: UpstreamDocument] = [:], epoch: Int = 0
    ) {
        (self.url, self.validators, self.bypassesCaches) = (url, validators, bypassesCaches)
        (self.accepted, self.index, self.keys) = (accepted, index, keys)
        (self.found, self.epoch) = (found, epoch)
    }

    /// The fields of the request for the manifest.
    package var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Accept", value: "application/json,*/*;q=0.1"), (name: "Accept-Encoding", value: "identity"),
        ]
        if bypassesCaches { fields.append(Self.bypass) }
        if let tag = validators?.etag { fields.append(("If-None-Match", tag)) }
        if let date = validators?.lastModified { fields.append(("If-Modified-Since", date)) }
        return fields
    }

    /// The fields of the requests for documents and signatures.
    package var documentFields: [(name: String, value: String)] {
        [(name: "Accept", value: "*/*"), (name: "Accept-Encoding", value: "identity")]
            + (bypassesCaches ? [Self.bypass] : [])
    }

    /// Has caches on the way ask the server.
    private static let bypass = (name: "Cache-Control", value: "no-cache")

    /// The validators of a response that brought a manifest.
    ///
    /// Servers make them of a time in whole seconds. Of a file that changed a moment ago they say nothing (RFC 9110,
    /// section 8.8.2.2).
    package static func validators(of response: StoredResponse) -> Validators {
        if let modified = response.lastModified, response.date < modified + .seconds(2) { return Validators() }
        return response.validators
    }

    /// Whether the manifest with this digest is the one that was accepted in this run.
    package func isKnown(_ digest: Digest) -> Bool { index != nil && accepted?.sha256 == digest }

    /// What follows from the bytes of a manifest.
    ///
    /// - Throws: ``UpstreamFailure`` if it is not accepted.
    package func judge(
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
        try memo.judge(at: now)
        try accepted?.judge(memo)
        return (manifest, memo)
    }

    /// Reads a document that the manifest names.
    package func document(_ bytes: [UInt8], of list: Manifest.List) throws(UpstreamFailure) -> UpstreamDocument {
        guard Digest.of(bytes) == list.sha256 else {
            throw UpstreamFailure(.incomplete, "\(list.document) does not have its digest")
        }
        do {
            return try UpstreamDocument(json: bytes, old: index)
        } catch {
            throw UpstreamFailure(.damaged, "\(list.document) cannot be read: \(error.clause)")
        }
    }
}

/// What came of a look at an upstream.
package struct UpstreamAnswer: Sendable {
    package enum Outcome: Sendable {
        /// The manifest is the one that is known; with the validators of the response, if it brought it again.
        case unchanged(Validators? = nil)
        case accepted(UpstreamContents)
        /// With the documents that came all the same.
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

/// A document that a poll brought.
package struct UpstreamDocument: Sendable {
    package var contents: UpstreamIndex.Document
    /// The URLs of which it says something else than was known.
    package var changes: [IconURL]
    /// The size of its text, in bytes: what is kept of it takes no more.
    package let bytes: Int

    /// The longest URL that is kept, in bytes: lists have no longer ones of servers.
    private static let longestURL = 8192

    /// Reads a list document.
    ///
    /// - Parameters:
    ///   - json: Its text.
    ///   - old: What was known before.
    /// - Throws: ``FormatError`` if it is none.
    package init(json: [UInt8], old: UpstreamIndex?) throws(FormatError) {
        // The line of a ready icon has about 300 bytes.
        let capacity = json.count / 256
        self = try AppListDocument.reduce(
            json, anyLayoutUpTo: UpstreamPoll.anyLayoutLimit, into: { Self(capacity: capacity, bytes: json.count) }
        ) {
            $0.append($1, old: old)
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

/// A manifest of an upstream that was accepted, with its documents.
package struct UpstreamContents: Sendable {
    package var memo: UpstreamMemo
    /// What makes the next request conditional.
    package var validators: Validators
    package var index: UpstreamIndex
    /// The URLs of which the upstream says something else than before.
    package var changes: [IconURL]

    /// Takes the documents of a manifest in.
    ///
    /// - Parameters:
    ///   - memo: The manifest.
    ///   - validators: The validators of the response that brought it.
    ///   - manifest: The same manifest.
    ///   - new: The documents that were not known before, by digest.
    ///   - old: What was known before.
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
