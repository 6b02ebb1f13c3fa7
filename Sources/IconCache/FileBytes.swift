// SPDX-License-Identifier: Apache-2.0
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
    package static func read(_ file: FileDescriptor) throws(Errno) -> [UInt8] {
        let step = 1 << 16
        var bytes: [UInt8] = []
        do {
            while true {
                let count = bytes.count
                bytes.append(contentsOf: repeatElement(0, count: step))
                let got = try bytes.withUnsafeMutableBytes { buffer in
                    try file.read(
                        fromAbsoluteOffset: Int64(count), into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                }
                bytes.removeLast(step - got)
                if got == 0 { return bytes }
            }
        } catch {
            throw error as? Errno ?? .ioError
        }
    }
}
