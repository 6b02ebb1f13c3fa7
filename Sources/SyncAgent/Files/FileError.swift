// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// A failed file operation.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package var operation: String
    package var path: String
    package var errno: Errno

    package init(_ operation: String, _ path: String, _ errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// Whether the file system or the agent's quota is full.
    package var isOutOfSpace: Bool { errno == .noSpace || errno == .diskQuotaExceeded }

    /// Whether no file has the name, or one of its parents is not a folder.
    package var saysMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }

    package var description: String { "Cannot \(operation) \(path): \(errno)" }
}
