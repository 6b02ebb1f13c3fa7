// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// Reads whole files.
package enum FileBytes {
    /// Reads a file.
    package static func read(_ path: FilePath) throws(Errno) -> [UInt8] {
        let file = try open(path)
        defer { try? file.close() }
        return try read(file)
    }

    /// Opens a file for reading.
    ///
    /// A pipe in its place is not waited for, and a device is not read: they fail with ``notAFile``.
    static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
        let file: FileDescriptor
        do {
            file = try .open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        } catch {
            throw error as? Errno ?? .ioError
        }
        var status = stat()
        let isRead = fstat(file.rawValue, &status) == 0 && [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
        if isRead { return file }
        try? file.close()
        throw notAFile
    }

    /// What reading from a position fails with where there is a pipe, a socket or a device.
    package static let notAFile = Errno.illegalSeek

    /// Reads an open file from its beginning; the file offset stays as it is.
    ///
    /// - Parameters:
    ///   - file: The file, open for reading.
    ///   - capacity: The expected size, in bytes, for which memory is reserved. The default is the size of the file.
    /// - Returns: The bytes.
    /// - Throws: What the file system says.
    package static func read(_ file: FileDescriptor, expecting capacity: Int = 0) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var status = stat()
        // An array that grows while it is filled takes up to three times the memory.
        let isKnown = capacity == 0 && fstat(file.rawValue, &status) == 0
        bytes.reserveCapacity(isKnown ? Int(status.st_size) : capacity)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        do {
            while true {
                let count = try chunk.withUnsafeMutableBytes {
                    try file.read(fromAbsoluteOffset: Int64(bytes.count), into: $0)
                }
                if count == 0 { return bytes }
                bytes += chunk[..<count]
            }
        } catch {
            throw error as? Errno ?? .ioError
        }
    }
}
