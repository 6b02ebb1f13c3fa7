// SPDX-License-Identifier: Apache-2.0
import AppLists
import TestSupport
import Testing

@Suite("URLs that are sent as they are written: FetchTarget")
struct FetchTargetPlainTests {
    private static let starts = ["http://", "https://", "HTTP://", "http:/", "ftp://", ""]
    private static let hosts = ["a", "b.example", "127.0.0.1", "a_b", "xn--mnchen-3ya", "[::1]", "-"]
    private static let pieces = [
        "a", "Z", "9", "0", "-", ".", "_", "~", "..", "/", "//", "/../", "/./", ":", ":80", ":00080", ":8443", "?",
        "??", "#", "@", "%", "%20", "%2F", "%zz", "\\", "[", "]", "!", "$", "&", "'", "(", ")", "*",
        "+", ",",
        ";", "=", "\"", "<", ">", "|", "^", "`", "{", "}", " ", "\t", "\r\n", "\0", "\u{7F}", "ü", "\u{301}", "x.png",
        "http://", "xn--a", "b.example",
    ]

    /// Whether the short way has anything to say of a URL; it must be what the parser says.
    private func isPlain(_ text: String) -> Bool {
        guard let plain = FetchTarget(plain: text) else { return false }
        let parsed = try? FetchTarget(parsing: text)
        #expect(parsed == plain, "\(text.debugDescription)")
        #expect(parsed?.isSent(as: plain.url) == true, "\(text.debugDescription)")
        return true
    }

    @Test("the short way to read a URL and the parser agree on random ones", arguments: 0..<10 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        func any(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &generator)] }
        var plain = 0
        for _ in 0..<500 {
            var text = any(Self.starts) + any(Self.hosts)
            for _ in 0..<Int.random(in: 0..<6, using: &generator) { text += any(Self.pieces) }
            if isPlain(text) { plain += 1 }
        }
        #expect(plain > 10)
    }

    @Test(
        "the short way to read a URL and the parser agree on every byte, wherever it stands",
        arguments: 0..<128 as Range<UInt8>)
    func bytes(byte: UInt8) {
        let byte = String(decoding: [byte], as: UTF8.self)
        for text in [
            "http://a\(byte)b/", "http://\(byte)a/", "http://a\(byte)", "http://a\(byte)80/", "http://a:8\(byte)/",
            "http://a:\(byte)8", "https://a/\(byte)", "https://a/x\(byte)y?z", "https://a/?\(byte)", "http\(byte)//a/",
            "\(byte)ttp://a/", "http:/\(byte)a/", "http://a/\(byte)\u{301}",
        ] {
            _ = isPlain(text)
        }
    }

    @Test("the short way to read a URL and the parser agree on the longest URL and host")
    func length() {
        let path = String(repeating: "x", count: FetchTarget.maxLength - 9)
        let host = String(repeating: "a", count: 253)
        #expect(isPlain("http://a/" + path) && !isPlain("http://a/" + path + "x"))
        #expect(isPlain("http://\(host)/") && !isPlain("http://a\(host)/"))
    }

    @Test("the short way to read a URL and the parser agree on ports", arguments: ["1", "80", "00080", "65535"])
    func ports(port: String) {
        #expect(isPlain("http://a:\(port)/"))
    }

    @Test("a port out of range is not read in the short way", arguments: ["0", "65536", "99999", "000080"])
    func wrongPorts(port: String) {
        #expect(!isPlain("http://a:\(port)/"))
    }

    @Test(
        "a path with dot segments is not read in the short way",
        arguments: ["/.", "/..", "/./x", "/x/../y", "/x/..?y", "/x/.?"])
    func dotSegments(path: String) {
        #expect(!isPlain("https://a.example" + path))
    }

    @Test(
        "most URLs are read in the short way",
        arguments: [
            ("https://a.example/icons/Mail_2.png", "a.example", 443), ("http://a.example", "a.example", 80),
            ("http://127.0.0.1:8088/x?y=z&a=b", "127.0.0.1", 8088), ("https://a:65535/~u/@2x.png", "a", 65_535),
            ("https://a/.well-known/x./y", "a", 443),
        ])
    func plain(text: String, host: String, port: Int) {
        #expect(isPlain(text))
        let target = FetchTarget(plain: text)
        #expect(target?.host == host && target?.port == port && target?.url == text)
    }
}
