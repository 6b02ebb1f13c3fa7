// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage

/// The names in a folder (`readdir(3)`).
enum FolderListing {
    /// Reads all names, `.` and `..` excepted; in no order, hidden ones included.
    ///
    /// - Parameter folder: A descriptor of the folder, which is closed by this.
    /// - Returns: Each name with its inode number.
    /// - Throws: An error if the folder could not be read to its end: a part of a folder is no folder.
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

/// A name in a folder, as its bytes: it need not be UTF-8.
struct FileName: Sendable {
    let bytes: [UInt8]

    fileprivate init(cString: UnsafePointer<CChar>) {
        bytes = UnsafeBufferPointer(start: cString, count: strlen(cString)).map { UInt8(bitPattern: $0) }
    }

    fileprivate var isDot: Bool { bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) }

    /// The name as text; `nil` if it is not UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The name with each byte that is not ASCII, or not to be printed, as `\\xE9`.
    var escaped: String {
        bytes.map { byte in
            (0x20..<0x7F).contains(byte)
                ? String(UnicodeScalar(byte))
                : (byte < 0x10 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
