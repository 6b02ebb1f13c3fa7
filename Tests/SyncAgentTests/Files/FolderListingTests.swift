// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The names in a folder")
struct FolderListingTests {
    @Test("names in a folder are all there, and whole, whatever they are")
    func names() async throws {
        try await withTemporaryFolder { path in
            let names = Set((0..<1000).map { "\($0)" } + [String(repeating: "n", count: 255), ".hidden", "ö", " "])
            for name in names { try makeFolder(path.appending(name)) }
            let folder = open(path.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            #expect(Set(try FolderListing.names(in: folder).map(\.name.text)) == names)
        }
    }

    @Test("names in a folder are read to their end only, not beyond their entry")
    func end() throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let memory = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(memory, 2 * page) }
        try #require(mprotect(memory + page, page, PROT_NONE) == 0)
        // The inode number, an offset, the entry's size and its type come before the name.
        let size = 24
        let start = memory + page - size
        start.storeBytes(of: UInt16(size), toByteOffset: 16, as: UInt16.self)
        start.storeBytes(of: UInt8(ascii: "a"), toByteOffset: 19, as: UInt8.self)
        let entry = start.assumingMemoryBound(to: dirent.self)
        #expect(String(cString: entry_name(entry)) == "a")
    }
}
