// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// A failed file operation.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package var operation: String
    package var path: String
    package var errno: Errno
    /// What the error number does not say, as a further sentence without its full stop.
    private var remark = ""

    package init(_ operation: String, _ path: String, _ errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// Returns the result of a system call, unless it is negative: `errno` then has the reason.
    @discardableResult
    package static func check(_ operation: String, _ path: String, _ result: Int32) throws(FileError) -> Int32 {
        guard result < 0 else { return result }
        throw FileError(operation, path, Errno(rawValue: Glibc.errno))
    }

    /// Whether the file system or the agent's quota is full.
    package var isOutOfSpace: Bool { errno == .noSpace || errno == .diskQuotaExceeded }

    /// Whether no file has the name, or one of its parents is not a folder.
    package var saysMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }

    /// A folder that was deleted on the host, below a mount that still shows it.
    static func deleted(_ folder: FilePath) -> FileError {
        var error = FileError("list", folder.string, .noSuchFileOrDirectory)
        error.remark = ". It was deleted below its mount: mount it again, or restart the container"
        return error
    }

    package var description: String { "Cannot \(operation) \(path): \(errno)\(remark)" }
}
