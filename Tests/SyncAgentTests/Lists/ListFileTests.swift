// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import Glibc
import SyncAgent
import SystemPackage
import TestSupport
import Testing

@Suite("Opening property lists")
struct ListFileTests {
    @Test("a file is opened, and its fingerprint changes with it")
    func fingerprint() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("a.plist")
            try write("(a)", to: path)
            let opened = try ListFile(opening: path, maxBytes: ByteCount(3))
            defer { opened.close() }
            #expect(opened.fingerprint.size == 3)
            #expect(try opened.isUnchanged)
            try write("(a, b)", to: path)
            #expect(try !opened.isUnchanged)
        }
    }

    @Test("the contents are read from the first byte and hashed, and the offset stays")
    func contents() async throws {
        try await withTemporaryFolder { folder in
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
            let path = folder.appending("a.plist")
            try write(bytes, to: path)
            let opened = try ListFile(opening: path, maxBytes: ByteCount(bytes.count))
            defer { opened.close() }
            try opened.descriptor.seek(offset: 7, from: .start)
            let contents = try opened.contents(maxBytes: ByteCount(bytes.count))
            #expect(contents.sha256 == Digest.of(bytes))
            #expect(contents.bytes == bytes)
            #expect(try opened.descriptor.seek(offset: 0, from: .current) == 7)
            #expect(throws: ListRejection.tooLarge(limit: ByteCount(199_999))) {
                try opened.contents(maxBytes: ByteCount(199_999))
            }
        }
    }

    @Test("a list that is no regular file, too large or missing is rejected without waiting")
    func rejections() async throws {
        try await withTemporaryFolder { folder in
            #expect(mkfifo(folder.appending("fifo").string, 0o600) == 0)
            try makeFolder(folder.appending("folder"))
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending("link").string, withDestinationPath: "/dev/zero")
            try write("(abc)", to: folder.appending("file"))
            for (name, code) in [
                ("fifo", "not-a-regular-file"), ("folder", "not-a-regular-file"), ("link", "not-a-regular-file"),
                ("file", "too-large"), ("missing", "unreadable"),
            ] {
                let rejection = try #require(throws: ListRejection.self, "\(name)") {
                    try ListFile(opening: folder.appending(name), maxBytes: ByteCount(4))
                }
                #expect(rejection.code.rawValue == code, "\(name)")
            }
        }
    }
}
