// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
import SystemPackage

/// The names in a folder (`readdir(3)`).
enum FolderListing {
    /// Reads all names except `.` and `..`, unsorted, hidden ones included.
    ///
    /// - Parameter folder: A descriptor of the folder, which this call closes.
    /// - Returns: Each name with its inode number.
    /// - Throws: An error if the folder cannot be read to its end: a partial listing is never returned.
    static func names(in folder: Int32) throws(Errno) -> [(name: FileName, inode: UInt64)] {
        guard let stream = fdopendir(folder) else {
            let error = Errno(rawValue: errno)
            Glibc.close(folder)
            throw error
        }
        defer { closedir(stream) }
        var names: [(name: FileName, inode: UInt64)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno(rawValue: errno) }
                return names
            }
            let name = FileName(cString: entry_name(entry))
            if !name.isDot { names.append((name, UInt64(entry.pointee.d_ino))) }
        }
    }
}

/// A file name as bytes: it need not be UTF-8.
struct FileName: Sendable {
    let bytes: [UInt8]

    fileprivate init(cString: UnsafePointer<CChar>) {
        bytes = UnsafeBufferPointer(start: cString, count: strlen(cString)).map { UInt8(bitPattern: $0) }
    }

    fileprivate var isDot: Bool { bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) }

    /// The name as text; `nil` if it is not UTF-8.
    var text: String? { String(utf8: bytes[...]) }

    /// The name with each byte outside printable ASCII escaped as `\\xE9`.
    var escaped: String {
        bytes.map { byte in
            (0x20..<0x7F).contains(byte)
                ? String(UnicodeScalar(byte))
                : (byte < 0x10 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
