// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// A call on a file that failed.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package var operation: String
    package var path: String
    package var errno: Errno

    package init(_ operation: String, _ path: String, _ errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// Whether the file system is full, or the agent's share of it.
    package var isOutOfSpace: Bool { errno == .noSpace || errno == .diskQuotaExceeded }

    /// Whether there is nothing of that name, or something on the way to it is no folder.
    package var saysMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }

    package var description: String { "Cannot \(operation) \(path): \(errno)" }
}
