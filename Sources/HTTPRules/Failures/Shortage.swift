// SPDX-License-Identifier: Apache-2.0

/// A lack of space in the cache's file system, or of another resource that the agent needs.
package struct Shortage: Error, Equatable, Sendable {
    /// The scarce resource, as a stable word for scripts.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        case diskFull = "disk-full"
        /// File descriptors, memory or processes: a limit of the agent or of the system; or the cache is read-only.
        case outOfResources = "out-of-resources"

        package var description: String { rawValue }
    }

    package var code: Code
    package var bytes: Int
    /// Whether an image of usual size does not fit either.
    package var isGeneral: Bool
    /// The available and the missing amount, as a sentence without its full stop.
    package var reason: String

    package init(_ code: Code = .diskFull, bytes: Int, isGeneral: Bool, reason: String) {
        self.code = code
        self.bytes = bytes
        self.isGeneral = isGeneral
        self.reason = reason
    }
}
