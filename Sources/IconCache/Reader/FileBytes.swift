// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

package enum FileBytes {
    /// The longest file that is read into memory, in bytes, unless its own length is known: a longer one, such as a sparse
    /// one of some TiB, is damaged.
    package static let longest = 1 << 30

    /// The most memory that is reserved at once, in bytes: a sparse file can be longer than what is free.
    private static let mostReserved = 64 << 20

    package static func read(_ path: FilePath, upTo limit: Int = longest) throws(Errno) -> [UInt8] {
        let file = try open(path)
        defer { try? file.close() }
        return try read(file, upTo: limit)
    }

    /// Opens and reads a file; tries once more if the error may mean that it was replaced.
    ///
    /// On network file systems, a file can vanish while it is open.
    static func reopening<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        do {
            return try body()
        } catch  where error.mayMeanReplaced {
            return try body()
        }
    }

    /// Opens a file or folder for reading.
    ///
    /// Pipes and devices fail with ``notAFile``: opening one does not block.
    static func open(_ path: FilePath) throws(Errno) -> FileDescriptor {
        let file: FileDescriptor
        do throws(Errno) {
            file = try open(path, options: [.closeOnExec, .nonBlocking])
        } catch .wouldBlock {
            // Another process holds a lease of the kernel on the file (`F_SETLEASE`, fcntl(2)), and gives it up in a moment.
            var status = stat()
            guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .wouldBlock }
            file = try open(path, options: [.closeOnExec])
        }
        return try only([S_IFREG, S_IFDIR], file)
    }

    /// Returns an open file if it is of one of these types (`S_IFMT`, inode(7)); otherwise closes it.
    static func only(_ types: [mode_t], _ file: FileDescriptor) throws(Errno) -> FileDescriptor {
        var status = stat()
        if fstat(file.rawValue, &status) == 0, types.contains(status.st_mode & S_IFMT) { return file }
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

    /// The error for a pipe, socket or device: such a file cannot be read at an offset.
    package static let notAFile = Errno.illegalSeek

    /// Reads an open file from its beginning; the file offset stays as it is.
    ///
    /// - Throws: `EFBIG` if it has more than `limit` bytes.
    package static func read(_ file: FileDescriptor, upTo limit: Int = longest) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var status = stat()
        if fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard status.st_size <= limit else { throw .fileTooLarge }
            // An array that grows while it is filled takes up to three times the memory.
            bytes.reserveCapacity(min(Int(status.st_size), mostReserved))
        }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        do {
            while true {
                let count = try chunk.withUnsafeMutableBytes {
                    try file.read(fromAbsoluteOffset: Int64(bytes.count), into: $0)
                }
                if count == 0 { return bytes }
                guard count <= limit - bytes.count else { throw Errno.fileTooLarge }
                bytes += chunk[..<count]
            }
        } catch {
            throw error as? Errno ?? .ioError
        }
    }
}
