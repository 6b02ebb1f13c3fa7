// SPDX-License-Identifier: Apache-2.0

/// There was no room for something on the file system of the cache, or no other means that the agent needs.
package struct Shortage: Error, Equatable, Sendable {
    /// What there is not enough of, as a stable word for scripts.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        case diskFull = "disk-full"
        /// File descriptors, memory or processes: limits of the agent or of the system.
        case outOfResources = "out-of-resources"

        package var description: String { rawValue }
    }

    package var code: Code
    /// How many bytes there was no room for.
    package var bytes: Int
    /// Whether there is no room for an image of usual size either.
    package var isGeneral: Bool
    /// What there is and what is missing, as a sentence without its full stop.
    package var reason: String

    package init(_ code: Code = .diskFull, bytes: Int, isGeneral: Bool, reason: String) {
        self.code = code
        self.bytes = bytes
        self.isGeneral = isGeneral
        self.reason = reason
    }
}
