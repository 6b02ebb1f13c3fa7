// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
import Glibc
import HTTPRules
package import SystemPackage

/// An open property list; the opener closes it.
package struct ListFile: Sendable {
    /// The contents of a file and the digest of exactly these bytes, even if the file changes meanwhile.
    package struct Contents: Equatable, Sendable {
        package let bytes: [UInt8]
        package let sha256: Digest
    }

    package let descriptor: FileDescriptor
    /// The fingerprint when it was opened.
    package let fingerprint: FileFingerprint

    /// Opens a file without blocking, even if it is a pipe or a device.
    ///
    /// - Throws: ``ListRejection`` if the file cannot be opened, is not a regular file, or exceeds the limit.
    package init(opening path: FilePath, maxBytes: ByteCount) throws(ListRejection) {
        do {
            descriptor = try .open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            if let shortage = (error as? Errno).flatMap({ Shortage($0) }) { throw .outOfResources(shortage.reason) }
            // A socket cannot be opened (ENXIO).
            if error as? Errno == .noSuchAddressOrDevice { throw .notARegularFile }
            let leadsNowhere = error as? Errno == .noSuchFileOrDirectory && path.isSymbolicLink
            throw .unreadable(leadsNowhere ? "it is a symbolic link that leads nowhere" : "\(error)")
        }
        do throws(ListRejection) {
            let status = try Self.status(of: descriptor)
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile }
            guard status.st_size <= maxBytes.bytes else { throw .tooLarge(limit: maxBytes) }
            fingerprint = FileFingerprint(status)
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    package func close() { try? descriptor.close() }

    /// Whether the fingerprint is as when the file was opened; if not, the bytes read since may mix two versions.
    package var isUnchanged: Bool {
        get throws(ListRejection) { try FileFingerprint(Self.status(of: descriptor)) == fingerprint }
    }

    /// Reads the file from its first byte; leaves the file offset unchanged.
    ///
    /// - Throws: ``ListRejection`` if reading fails, or the contents exceed the limit.
    package func contents(maxBytes: ByteCount) throws(ListRejection) -> Contents {
        let bytes = try Self.bytes(atMost: maxBytes) { try descriptor.read(fromAbsoluteOffset: $0, into: $1) }
        return Contents(bytes: bytes, sha256: Digest.of(bytes))
    }

    /// Calls a function that reads from an offset into a buffer, until it reads nothing.
    ///
    /// - Throws: ``ListRejection`` if reading fails, or the file has more bytes than the limit.
    static func bytes(
        atMost limit: ByteCount, read: (Int64, UnsafeMutableRawBufferPointer) throws -> Int
    ) throws(ListRejection) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit.bytes {
            let count: Int
            do {
                count = try buffer.withUnsafeMutableBytes { try read(Int64(bytes.count), $0) }
            } catch {
                throw .unreadable("\(error)")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw .tooLarge(limit: limit)
    }

    private static func status(of file: FileDescriptor) throws(ListRejection) -> stat {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw .unreadable("\(Errno(rawValue: errno))") }
        return status
    }
}

extension FilePath {
    package var isSymbolicLink: Bool {
        var status = Glibc.stat()
        return lstat(string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
