// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("What strace tells of calls")
struct TracedCallTests {
    @Test(
        "the file of a call is the same, whichever part of its path is passed",
        arguments: [
            #"8 renameat(9</c/staging>, "1", 7</c/icons/ab>, "abc.png") = 0"#,
            #"8 renameat(9</c>, "staging/1", 9</c>, "icons/ab/abc.png") = 0"#,
            #"8  rename("/c/staging/1", "/c/icons/ab/abc.png" <unfinished ...>"#,
            #"8 openat(AT_FDCWD</c>, "icons/ab/abc.png", O_RDONLY|O_CLOEXEC) = 7</c/icons/ab/abc.png>"#,
            #"8 openat2(7</c/icons>, "ab/abc.png", {flags=O_RDONLY, resolve=RESOLVE_NO_SYMLINKS}, 24) = 8</other>"#,
            #"8 write(7</c/icons/ab/abc.png>, "\"9</no>\\", 7) = -1 EIO (Input/output error) (INJECTED)"#,
            #"8 fsync(7</c/icons/ab/abc.png>)    = 0"#,
        ])
    func path(line: String) throws {
        #expect(try #require(TracedCall(line[...])).path == "/c/icons/ab/abc.png")
    }

    @Test("what strace would compare with a path is what was passed, and where the descriptors lead to")
    func subjects() throws {
        let call = try #require(TracedCall(#"8 linkat(9</c/staging>, "1", 7</c>, "manifest.json", 0) = 0"#))
        #expect(call.subjects == ["/c/staging", "1", "/c", "manifest.json"])
        #expect(call.subject == "manifest.json")
    }

    @Test(
        "other lines are no calls on files",
        arguments: ["8 +++ exited with 0 +++", "8 <... openat resumed>) = 7</c/staging>", "8 munmap(0x7f, 4096) = 0"])
    func none(line: String) {
        #expect(TracedCall(line[...]) == nil)
    }
}
