// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules
package import Reports

/// The state of an icon that survives a restart, apart from the cache folder.
package struct IconMemo: Equatable, Sendable {
    package var url: IconURL
    /// The image that the response and freshness belong to.
    package var image: Digest?
    package var packedResponse: PackedResponse?
    package var freshUntil: Timestamp
    package var failure: IconRecord.Failure?
    /// The trail; the icon's own URL is left out, as in its record.
    package var trail: FetchTrail?

    package init(
        url: IconURL, image: Digest?, packedResponse: PackedResponse? = nil, freshUntil: Timestamp,
        failure: IconRecord.Failure?, trail: FetchTrail? = nil
    ) {
        (self.url, self.image, self.packedResponse) = (url, image, packedResponse)
        (self.freshUntil, self.failure, self.trail) = (freshUntil, failure, trail)
    }
}

/// The state of an origin that survives a restart; an origin without a memo has not failed recently.
package struct OriginMemo: Codable, Hashable, Sendable {
    /// Scheme, host and port, as in `FetchTarget/origin`.
    package var origin: String
    package var health: OriginHealth

    package init(origin: String, health: OriginHealth) {
        (self.origin, self.health) = (origin, health)
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

/// An image that could not be rendered, so that it is not retried with the same renderer and rules.
package struct RenderMemo: Codable, Hashable, Sendable {
    package var image: Digest
    package var failure: RenderFailure

    package init(image: Digest, failure: RenderFailure) { (self.image, self.failure) = (image, failure) }
}

/// The state of an accepted list that survives a restart; its document has its entries.
package struct ListMemo: Codable, Equatable, Sendable {
    package var list: ListName
    /// The digest of the file.
    package var sha256: Digest
    /// The rules by which the list was read: ``ListLimits/rules``.
    package var rules: String

    package init(list: ListName, sha256: Digest, rules: String) {
        (self.list, self.sha256, self.rules) = (list, sha256, rules)
    }
}
