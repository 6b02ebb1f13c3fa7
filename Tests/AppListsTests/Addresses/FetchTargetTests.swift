// SPDX-License-Identifier: Apache-2.0
import AppLists
import TestSupport
import Testing

@Suite("URLs that may be asked for")
struct FetchTargetTests {
    @Test(
        "a URL is taken apart",
        arguments: [
            ("http://a.example/", "http://a.example:80"), ("https://a.example", "https://a.example:443"),
            ("HTTPS://A.Example/X", "https://a.example:443"), ("http://a:1/x", "http://a:1"),
            ("http://a:65535/x", "http://a:65535"), ("http://a:00080/", "http://a:80"), ("http://a:/x", "http://a:80"),
            ("https://a?q", "https://a:443"), ("https://a#f", "https://a:443"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("http://[::1]/x", "http://::1:80"),
            ("http://[::1]:8/x", "http://::1:8"),
            ("http://[FE80::A]/", "http://fe80::a:80"), ("http://[::ffff:127.0.0.1]/", "http://::ffff:127.0.0.1:80"),
            ("http://a_b.example/", "http://a_b.example:80"), ("http://a.example./", "http://a.example.:80"),
            ("http://xn--mnchen-3ya.example/", "http://xn--mnchen-3ya.example:80"),
            ("http://a/@b", "http://a:80"), ("http://a/x:99999/", "http://a:80"),
        ])
    func origin(text: String, origin: String) throws {
        let target = try FetchTarget(text)
        #expect(target.origin == origin)
        #expect(target.isSecure == origin.hasPrefix("https"))
    }

    @Test(
        "the URL of a request has no fragment, and is ASCII",
        arguments: [
            ("http://a/x.png#top", "http://a/x.png"), ("http://a/x?y#", "http://a/x?y"), ("http://a/#a#b", "http://a/"),
            ("http://a/ü.png", "http://a/%C3%BC.png"), ("http://a/a b.png", "http://a/a%20b.png"),
            ("http://a/a%20b.png", "http://a/a%20b.png"), ("http://a/?q=ü ü", "http://a/?q=%C3%BC%20%C3%BC"),
            ("http://a/%zz", "http://a/%25zz"), ("http://a/x#\u{301}y", "http://a/x"),
            ("http://a/x\r\ny", "http://a/x%0D%0Ay"), ("http://a/ué%2Fx.png", "http://a/u%C3%A9%2Fx.png"),
            ("http://a/v|w%2Fx", "http://a/v%7Cw%2Fx"),
            ("http://a/[1]%2F?q=[1]&z=%2f", "http://a/%5B1%5D%2F?q=%5B1%5D&z=%2f"),
            ("http://a/é%2#%zz", "http://a/%C3%A9%252"), ("http://[::1]/ %20", "http://[::1]/%20%20"),
            ("https://a/c/../i/m.png", "https://a/i/m.png"), ("http://a/./x", "http://a/x"),
            ("http://a/../../x?../y/./z", "http://a/x?../y/./z"), ("http://a/b/..", "http://a/"),
            ("http://a/b/c/.?q", "http://a/b/c/?q"), ("HTTP://A:80/b/%2E%2e/x", "HTTP://A:80/x"),
            ("http://a/b/.%2e", "http://a/"), ("http://a/b//../x", "http://a/b/x"), ("http://a/.//x", "http://a//x"),
            ("http://a/..x/.y/z../...", "http://a/..x/.y/z../..."), ("http://a/b/..#/../c", "http://a/"),
            ("http://a/b/%2e%2fc", "http://a/b/%2e%2fc"), ("http://a?/../x", "http://a?/../x"),
            ("http://a/b/%252e%252e/c", "http://a/b/%252e%252e/c"), ("http://[::1]/b/../c", "http://[::1]/c"),
        ])
    func sent(text: String, url: String) throws {
        let target = try FetchTarget(text)
        #expect(target.url == url)
        #expect(target.url.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "#") })
    }

    @Test(
        "a URL that may not be asked for is refused, for as long as it is spelled so",
        arguments: [
            ("", "bad-url"), ("a.png", "bad-url"), ("//a/x", "bad-url"), ("http:", "bad-url"), ("http:/", "bad-url"),
            ("http://", "bad-url"), ("http:///", "bad-url"), ("http://:80/", "bad-url"),
            ("http://?q", "bad-url"), ("http://a:b/", "bad-url"), ("http://a:8:8/", "bad-url"),
            ("http://a:-1/", "bad-url"),
            ("http://a:+80/", "bad-url"), ("http://[::1/", "bad-url"), ("http://[1.2.3.4]/", "bad-url"),
            ("http://[]/", "bad-url"), ("http://[fe80::1%25eth0]/", "bad-url"), ("http://[v1.x]/", "bad-url"),
            ("http://[2001:db8::1]x/", "bad-url"),
            ("\u{301}http://a/", "scheme-refused"), ("ftp://a/x", "scheme-refused"),
            ("file:///etc/passwd", "scheme-refused"),
            ("http+unix://%2Frun%2Fx.sock/", "scheme-refused"), ("https+unix://x/", "scheme-refused"),
            ("data:image/png;base64,", "scheme-refused"), ("javascript:1", "scheme-refused"),
            ("ｈttp://a/", "scheme-refused"),
            ("http://u@a/", "userinfo-refused"), ("http://u:p@a/", "userinfo-refused"),
            ("http://@a/", "userinfo-refused"),
            ("http://u@\u{301}a/", "userinfo-refused"),
            ("http://münchen.example/", "host-refused"), ("http://a b/", "host-refused"),
            ("http://a.1./", "host-refused"), ("http://a.0x1F./", "host-refused"), ("http://./", "host-refused"),
            ("http://a:0/", "port-refused"), ("http://a:65536/", "port-refused"), ("http://a:99999/", "port-refused"),
            ("http://a:000080/", "port-refused"), ("http://a:99999999999999999999/", "port-refused"),
        ])
    func refuse(text: String, code: String) {
        let refusal = #expect(throws: URLRefusal.self) { try FetchTarget(text) }
        #expect(refusal?.code.rawValue == code)
    }

    /// Whether a byte may be in a host, or ends it.
    private func isInHost(_ byte: UInt8) -> Bool { byte.isOfName || ":/?#@".utf8.contains(byte) }

    /// Programs differ in what they make of other characters: some end a host there, skip them, or replace them.
    @Test("a host has letters, digits, dots, hyphens and underscores; with any other byte the URL is refused")
    func hostCharacters() {
        for byte in UInt8(0)..<128 where !isInHost(byte) {
            let character = String(decoding: [byte], as: UTF8.self)
            let refusal = #expect(throws: URLRefusal.self, "\(byte)") { try FetchTarget("http://a\(character)b/") }
            #expect(refusal?.code.rawValue == "host-refused", "\(byte)")
        }
    }

    @Test("a URL may have 8192 bytes and no more")
    func length() throws {
        let text = "http://a/" + String(repeating: "x", count: FetchTarget.maxLength - 9)
        #expect(try FetchTarget(text).url == text)
        #expect(throws: URLRefusal.self) { try FetchTarget(text + "x") }
        #expect(throws: URLRefusal.self) { try FetchTarget("http://" + String(repeating: "a", count: 254) + "/") }
    }

    @Test(
        "a reference is resolved against the URL",
        arguments: [
            ("/y.png", "https://a/y.png"), ("y.png", "https://a/d/y.png"), ("../y.png", "https://a/y.png"),
            ("../../../y.png", "https://a/y.png"), ("?q", "https://a/d/x.png?q"), ("./x.png", "https://a/d/x.png"),
            ("#f", "https://a/d/x.png"), ("//b/y", "https://b/y"), ("http://b:81/y", "http://b:81/y"),
            ("https://b/y#f", "https://b/y"), ("/ü y", "https://a/%C3%BC%20y"),
            ("/a%20b c.png", "https://a/a%20b%20c.png"),
            ("é%2Fx?q=[1]&z=%2F", "https://a/d/%C3%A9%2Fx?q=%5B1%5D&z=%2F"),
            ("http://[::1]/é%20", "http://[::1]/%C3%A9%20"), ("./", "https://a/d/"),
            ("https://b/e/../y", "https://b/y"), ("%2e%2e/y", "https://a/y"), ("/e/./../y?/..", "https://a/y?/.."),
        ])
    func redirect(location: String, url: String) throws {
        #expect(try FetchTarget("https://a/d/x.png").resolving(location)?.url == url)
    }

    @Test("a reference to a host that is not in ASCII is refused, or leads to one that is")
    func redirectToOtherCharacters() throws {
        let redirected = try? FetchTarget("https://a/d/x.png").resolving("http://münchen.example/")
        #expect(redirected.map { $0.host == "xn--mnchen-3ya.example" } ?? true)
    }

    @Test(
        "a host whose last label is a number, or missing, is no name",
        arguments: [
            ("", true), (".", true), ("..", true), ("1", true), ("a.1", true), ("a.1.", true), ("a.1..", true),
            ("1.a", false), ("a", false), ("a.", false), ("0x", true), ("0X", true), ("a.0x1f", true),
            ("a.0XaF.", true),
            ("0x1g", false), ("x1", false), ("1x", false), ("00x1", false), ("0", true), ("a..0", true), ("1-1", false),
            ("::1", true), ("a:1", true), ("a.b.c", false), ("127.0.0.1", true), ("1_", false),
        ])
    func names(host: String, isNoName: Bool) {
        #expect(FetchTarget.isNoName(host) == isNoName)
    }

    @Test("a random host is no name exactly if its last label is a number")
    func randomNames() {
        var generator = SeededRandom(seed: 1)
        for _ in 0..<5000 {
            let host = String(
                (0..<Int.random(in: 0...7, using: &generator)).map { _ in
                    "00179xXaFg-_..".randomElement(using: &generator) ?? "."
                })
            let label = host.split(separator: ".").last.map { $0.lowercased() } ?? ""
            let isNumber =
                label.allSatisfy(\.isNumber) || label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
            #expect(FetchTarget.endsInNumber(host) == isNumber, "\(host)")
        }
    }
}
