// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// Whole files as bytes.
package enum FileBytes {
    /// The bytes of a file, from its first one to the end.
    package static func read(_ path: FilePath) throws(Errno) -> [UInt8] {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            return try file.closeAfter { try read(file) }
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    /// The bytes of an open file, from its first one to the end; the file offset is left alone.
    ///
    /// - Parameters:
    ///   - file: The file, open for reading.
    ///   - capacity: How many bytes are expected. If so many come, the array has no room for more.
    /// - Returns: The bytes.
    /// - Throws: What the file system says.
    package static func read(_ file: FileDescriptor, expecting capacity: Int = 0) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var status = stat()
        // An array that grows as it is filled takes up to three times the memory.
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
