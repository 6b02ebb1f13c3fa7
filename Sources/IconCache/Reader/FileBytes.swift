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

    /// Reads the file at a path, in place of which another one can be put at any time.
    ///
    /// On file systems of several hosts, a file can be gone although it is open; then the path is opened once more.
    static func readNewest(_ path: FilePath) throws(Errno) -> [UInt8] {
        try reopening { () throws(Errno) in try read(path) }
    }

    /// Opens and reads a file; once more if it fails as it does for a file that was replaced meanwhile.
    static func reopening<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        do {
            return try body()
        } catch  where error.mayMeanReplaced {
            return try body()
        }
    }

    /// Opens a file for reading.
    ///
    /// A pipe in its place is not waited for, and a device is not read: they fail with ``notAFile``.
    static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
        var status = stat()
        var file: FileDescriptor
        do throws(Errno) {
            file = try open(path, options: [.closeOnExec, .nonBlocking])
        } catch .wouldBlock {
            // Another process holds a lease of the kernel on the file (`F_SETLEASE`, fcntl(2)), and gives it up in a moment.
            guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .wouldBlock }
            file = try open(path, options: [.closeOnExec])
        }
        let isRead = fstat(file.rawValue, &status) == 0 && [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
        if isRead { return file }
        try? file.close()
        throw notAFile
    }

    private static func open(_ path: FilePath, options: FileDescriptor.OpenOptions) throws(Errno) -> FileDescriptor {
        do {
            return try .open(path, .readOnly, options: options)
        } catch {
            throw error as? Errno ?? .ioError
        }
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
