// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// What is remembered of a URL over a restart, beside what the cache folder itself tells.
package struct IconMemo: Equatable, Sendable {
    package var url: IconURL
    /// The image that the response and the freshness are of.
    package var image: Digest?
    package var response: StoredResponse?
    package var freshUntil: Timestamp
    package var failure: IconRecord.Failure?
    /// Without the icon's own URL, as in its record.
    package var trail: FetchTrail?

    package init(
        url: IconURL, image: Digest?, response: StoredResponse?, freshUntil: Timestamp, failure: IconRecord.Failure?,
        trail: FetchTrail? = nil
    ) {
        self.url = url
        self.image = image
        self.response = response
        self.freshUntil = freshUntil
        self.failure = failure
        self.trail = trail
    }
}

/// What is remembered of an origin over a restart; one that is not remembered is well.
package struct OriginMemo: Codable, Hashable, Sendable {
    /// The scheme, host and port, as `FetchTarget/origin` has them.
    package var origin: String
    package var health: OriginHealth

    package init(origin: String, health: OriginHealth) {
        self.origin = origin
        self.health = health
    }
}

/// What events have told of a list whose file is not accepted, so that a restart does not tell it again.
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

/// What is remembered over a restart of a list in which there was no flaw: all else that was in it is in its document.
package struct ListMemo: Codable, Equatable, Sendable {
    package var list: ListName
    /// The digest of the file.
    package var sha256: Digest
    /// By what rules it was read: ``ListLimits/rules``.
    package var rules: String

    package init(list: ListName, sha256: Digest, rules: String) {
        self.list = list
        self.sha256 = sha256
        self.rules = rules
    }
}
