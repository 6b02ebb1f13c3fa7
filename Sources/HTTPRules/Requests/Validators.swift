// SPDX-License-Identifier: Apache-2.0

/// Validators of a response (RFC 9110, section 8.8), as the server wrote them.
package struct Validators: Hashable, Sendable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    package var isEmpty: Bool { etag == nil && lastModified == nil }
}

/// The validators of a conditional request, and the only URL it may be sent to (RFC 9110, section 13).
///
/// A validator says nothing about another URL, even one reached by a redirect: a 304 from there could be about an older
/// image.
package struct Condition: Hashable, Sendable {
    /// The URL that gave the validators, as it was sent.
    package var url: String
    package var validators: Validators
}
