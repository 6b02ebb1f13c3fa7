// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Why an image has no renditions.
package struct RenderFailure: Codable, Hashable, Sendable {
    package enum Code: String, Codable, CaseIterable, Sendable {
        /// It has a format, or a variant of one, that the renderer does not read.
        case unsupported = "render-unsupported"
        /// The renderer found it damaged or too large, or died of it.
        case failed = "render-failed"
        /// The renderer was killed (SIGKILL) while it rendered it, or took too long; it is tried again.
        case interrupted = "render-interrupted"
    }

    package var code: Word<Code>
    /// A clause.
    package var message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (Word(code), message) }
}
