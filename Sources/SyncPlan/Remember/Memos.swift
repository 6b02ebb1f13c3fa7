// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules
package import Reports

/// What a restart keeps of an icon, beyond the cache folder.
package struct IconMemo: Equatable, Sendable {
    package var url: IconURL
    /// The image that the response and freshness belong to.
    package var image: Digest?
    package var packedResponse: PackedResponse?
    package var freshUntil: Timestamp
    package var failure: IconRecord.Failure?
    /// Without the icon's own URL, as in its record.
    package var trail: FetchTrail?

    package init(
        url: IconURL, image: Digest?, packedResponse: PackedResponse?, freshUntil: Timestamp,
        failure: IconRecord.Failure?, trail: FetchTrail? = nil
    ) {
        self.url = url
        self.image = image
        self.packedResponse = packedResponse
        self.freshUntil = freshUntil
        self.failure = failure
        self.trail = trail
    }

    package init(
        url: IconURL, image: Digest?, response: StoredResponse?, freshUntil: Timestamp, failure: IconRecord.Failure?,
        trail: FetchTrail? = nil
    ) {
        self.init(
            url: url, image: image, packedResponse: response.map(PackedResponse.init), freshUntil: freshUntil,
            failure: failure, trail: trail)
    }

    package var response: StoredResponse? { packedResponse?.unpacked }
}

/// What a restart keeps of an origin; an origin without a memo is healthy.
package struct OriginMemo: Codable, Hashable, Sendable {
    /// Scheme, host and port, as in `FetchTarget/origin`.
    package var origin: String
    package var health: OriginHealth

    package init(origin: String, health: OriginHealth) {
        self.origin = origin
        self.health = health
    }
}

/// A reported rejection of a list's file, kept so that a restart does not report it again.
package struct RejectionMemo: Codable, Hashable, Sendable {
    package var list: ListName
    package var code: String
    package var message: String
    /// Whether the last good version of the list stays in force.
    package var isKept: Bool

    package init(list: ListName, code: String, message: String, isKept: Bool) {
        (self.list, self.code, self.message, self.isKept) = (list, code, message, isKept)
    }
}

/// An image that could not be rendered; another renderer, or other rules, may.
package struct RenderMemo: Codable, Hashable, Sendable {
    package var image: Digest
    package var failure: RenderFailure

    package init(image: Digest, failure: RenderFailure) { (self.image, self.failure) = (image, failure) }
}

/// What a restart keeps of a list without problems; the rest of its content is in its document.
package struct ListMemo: Codable, Equatable, Sendable {
    package var list: ListName
    /// The digest of the file.
    package var sha256: Digest
    /// The rules by which it was read: ``ListLimits/rules``.
    package var rules: String

    package init(list: ListName, sha256: Digest, rules: String) {
        self.list = list
        self.sha256 = sha256
        self.rules = rules
    }
}
