// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Lines of strace")
struct TracedCallTests {
    @Test(
        "a traced call has the same file, whichever part of its path is passed",
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

    @Test("the subjects of a traced call are its paths as passed, and where its descriptors lead")
    func subjects() throws {
        let call = try #require(TracedCall(#"8 linkat(9</c/staging>, "1", 7</c>, "manifest.json", 0) = 0"#))
        #expect(call.subjects == ["/c/staging", "1", "/c", "manifest.json"])
        #expect(call.subject == "manifest.json")
    }

    @Test(
        "other lines of strace are no calls on files",
        arguments: ["8 +++ exited with 0 +++", "8 <... openat resumed>) = 7</c/staging>", "8 munmap(0x7f, 4096) = 0"])
    func none(line: String) {
        #expect(TracedCall(line[...]) == nil)
    }
}
