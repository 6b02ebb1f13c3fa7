// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// What lets a server say that an image has not changed (RFC 9110, section 8.8), in the server's own spelling.
package struct Validators: Hashable, Sendable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    package var isEmpty: Bool { etag == nil && lastModified == nil }
}

/// What makes a request conditional, and the only URL that may be asked so (RFC 9110, section 13).
///
/// A validator says nothing of what another URL has, however that was reached: an older image there would be taken for
/// “not modified”.
package struct Condition: Hashable, Sendable {
    /// The URL that gave the validators, as it was sent.
    package var url: String
    package var validators: Validators

    package init(url: String, validators: Validators) {
        self.url = url
        self.validators = validators
    }

    /// Whether a request for the URL may have it: only if that is the same, byte for byte.
    package func applies(to target: FetchTarget) -> Bool { target.isSent(as: url) }
}
