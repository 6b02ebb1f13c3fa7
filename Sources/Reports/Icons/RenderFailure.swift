// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Why an image has no renditions.
package struct RenderFailure: Codable, Hashable, Sendable {
    package enum Code: String, Codable, CaseIterable, Sendable {
        /// The renderer does not read the image's format, or this variant of it.
        case unsupported = "render-unsupported"
        /// The renderer found the image damaged or too large, or crashed while reading it.
        case failed = "render-failed"
        /// The renderer was killed (SIGKILL) during this image, or took too long, or the cache folder had no place for
        /// the result; the image is retried.
        case interrupted = "render-interrupted"
    }

    package var code: Word<Code>
    /// The reason, as a clause.
    package var message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (Word(code), message) }
}
