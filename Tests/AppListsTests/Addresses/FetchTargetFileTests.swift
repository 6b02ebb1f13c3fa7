// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("URLs of files, which only settings may name")
struct FetchTargetFileTests {
    @Test(
        "a file URL has an absolute path on this machine",
        arguments: [
            ("file:///media/usb/icons/", "/media/usb/icons/"), ("file:///a%20b/%C3%A9", "/a b/é"), ("file:///", "/"),
            ("file:///a/..b", "/a/..b"), ("file://host/a", nil), ("file:/a", nil), ("file:a", nil), ("/a", nil),
            ("FILE:///a", nil), ("file:///a/../b", nil), ("file:///a/%2E/b", nil), ("file:///a/./b", nil),
            ("file:///a b", nil), ("file:///a?b", nil), ("file:///a#b", nil), ("file:///a%00", nil),
            ("file:///%FF", nil), ("file:///%4", nil), ("https://h.example/", nil),
        ] as [(String, String?)])
    func paths(url: String, path: String?) {
        #expect(FetchTarget.file(url)?.filePath == path)
    }

    @Test("no list and no redirect can name a file URL")
    func untrusted() throws {
        #expect(throws: URLRefusal.self) { try FetchTarget("file:///etc/passwd") }
        #expect(throws: URLRefusal.self) { try FetchTarget("https://h.example/").resolving("file:///etc/passwd") }
        #expect(throws: URLRefusal.self) { try IconSource("file:///etc/passwd") }
        #expect(try FetchTarget("https://h.example/").filePath == nil)
    }
}
