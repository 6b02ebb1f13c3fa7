// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
import Glibc
import HTTPRules
package import SyncPlan
package import SystemPackage

/// A property list that is open for reading.
package struct OpenedList: Sendable {
    /// The open file; whoever opened it closes it.
    package let descriptor: FileDescriptor
    /// What the file was when it was opened.
    package let fingerprint: FileFingerprint
}

/// Opens property lists, and reads what is in them.
package enum ListFile {
    /// What is in a file, and its digest: what is parsed is what was hashed, whoever writes to the file meanwhile.
    package struct Contents: Equatable, Sendable {
        package let bytes: [UInt8]
        package let sha256: Digest
    }

    /// Opens a file without ever waiting, so that a pipe or a device in the lists folder holds nothing up.
    ///
    /// - Throws: ``ListRejection`` if the file cannot be opened, is no regular file, or is larger than the limit.
    package static func open(_ path: FilePath, maxBytes: ByteCount) throws(ListRejection) -> OpenedList {
        let descriptor: FileDescriptor
        do {
            descriptor = try .open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            if let shortage = (error as? Errno).flatMap({ Shortage($0) }) { throw .outOfResources(shortage.reason) }
            // A socket cannot be opened at all.
            throw error as? Errno == .noSuchAddressOrDevice ? .notARegularFile : .unreadable("\(error)")
        }
        do throws(ListRejection) {
            let status = try status(of: descriptor)
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile }
            guard status.st_size <= maxBytes.bytes else { throw .tooLarge(limit: maxBytes) }
            return OpenedList(descriptor: descriptor, fingerprint: FileFingerprint(status))
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    /// What an open file is now.
    ///
    /// If it is not what it was before, what was read in between may be of neither version.
    ///
    /// - Throws: ``ListRejection`` if the system does not tell.
    package static func fingerprint(of file: FileDescriptor) throws(ListRejection) -> FileFingerprint {
        FileFingerprint(try status(of: file))
    }

    /// What is in an open file, from its first byte; the file offset is left alone.
    ///
    /// - Throws: ``ListRejection`` if reading fails, or there is more to read than the limit.
    package static func contents(of file: FileDescriptor, maxBytes: ByteCount) throws(ListRejection) -> Contents {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count: Int
            do {
                count = try buffer.withUnsafeMutableBytes {
                    try file.read(fromAbsoluteOffset: Int64(bytes.count), into: $0)
                }
            } catch {
                throw .unreadable("\(error)")
            }
            if count == 0 { return Contents(bytes: bytes, sha256: Digest.of(bytes)) }
            bytes += buffer[..<count]
            guard bytes.count <= maxBytes.bytes else { throw .tooLarge(limit: maxBytes) }
        }
    }

    private static func status(of file: FileDescriptor) throws(ListRejection) -> stat {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw .unreadable("\(Errno(rawValue: errno))") }
        return status
    }
}
