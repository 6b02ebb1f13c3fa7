// SPDX-License-Identifier: Apache-2.0
import AppLists
import HTTPRules
import Testing

@Suite("Proxies")
struct ProxyPolicyTests {
    @Test(
        "a proxy is read in each of its forms",
        arguments: [
            ("proxy.example.com:3128", "http proxy.example.com 3128 "), ("http://p:80/", "http p 80 "),
            ("http://p", "http p 1080 "), ("HTTP://P:3128", "http p 3128 "), ("socks5h://p:1", "socks5 p 1 "),
            ("http://user:p%40ss@p:3128", "http p 3128 user:p@ss"), ("[::1]:3128", "http ::1 3128 "),
            ("https://p:1", nil), ("http://", nil), ("", nil), ("p:99999", nil), ("http://user@p:1", nil),
            ("http://a:%zz@p:1", nil), ("socks5://a:b@p:1", nil),
        ] as [(String, String?)])
    func forms(text: String, expected: String?) {
        let proxy = Proxy(text)
        #expect(proxy.map { "\($0.kind) \($0.host) \($0.port) \($0.credentials ?? "")" } == expected)
    }

    @Test(
        "a request goes through the proxy for its scheme and host",
        arguments: [
            (["http_proxy": "h:1"], "http://a/", "h"), (["http_proxy": "h:1"], "https://a/", nil),
            (["HTTP_PROXY": "h:1"], "http://a/", nil), (["HTTPS_PROXY": "s:1"], "https://a/", "s"),
            (["https_proxy": "l:1", "HTTPS_PROXY": "s:1"], "https://a/", "l"), (["ALL_PROXY": "x:1"], "http://a/", "x"),
            (["ALL_PROXY": "x:1", "http_proxy": "h:1"], "http://a/", "h"), (["all_proxy": "x:1"], "https://a/", "x"),
            (["http_proxy": "h:1", "NO_PROXY": "*"], "http://a/", nil),
            (["http_proxy": "h:1", "no_proxy": "a.org, b.org"], "http://b.org/", nil),
            (["http_proxy": "h:1", "no_proxy": ".b.org"], "http://c.b.org./", nil),
            (["http_proxy": "h:1", "no_proxy": "b.org"], "http://bb.org/", "h"),
            (["http_proxy": "h:1", "no_proxy": "b.org."], "http://c.b.org/", nil),
            (["http_proxy": "h:1", "no_proxy": "a.org\tb.org"], "http://b.org/", nil),
            (["http_proxy": "h:1", "no_proxy": "10.0.0.0/8"], "http://10.1.2.3/", nil),
            (["http_proxy": "h:1", "no_proxy": "10.0.0.0/8"], "http://11.1.2.3/", "h"),
            (["http_proxy": ""], "http://a/", nil),
        ] as [([String: String], String, String?)])
    func choice(environment: [String: String], url: String, host: String?) throws {
        let policy = try ProxyPolicy(setting: nil) { environment[$0] }
        #expect(policy.proxy(for: try FetchTarget(url))?.host == host)
    }

    @Test(
        "a proxy is shown without its password; text that is no proxy, by its scheme only",
        arguments: [
            ("http://p:80", "http://p:80"), ("http://user:secret@p:80", "…@p:80"), ("http://alice:secret", "http://…"),
            ("alice:secret", "…"), ("socks5://a:secret@p:1", "socks5://…"), ("secret://p", "…"), ("", ""),
        ])
    func withoutPassword(text: String, shown: String) {
        #expect(Proxy.withoutPassword(text) == shown)
    }

    @Test("the setting wins over the environment, its exceptions excepted, and a bad proxy shows no password")
    func setting() throws {
        let policy = try ProxyPolicy(setting: "s:1") { ["http_proxy": "h:1", "no_proxy": "b.org"][$0] }
        #expect(policy.proxy(for: try FetchTarget("http://a/"))?.host == "s")
        #expect(policy.proxy(for: try FetchTarget("https://b.org/")) == nil)
        for text in ["ftp://user:secret@p:1", "http://user:secret@\u{301}p:1", "http://user:secret"] {
            let error = #expect(throws: SettingError.self) { try ProxyPolicy(setting: text) { _ in nil } }
            #expect(error?.description.contains("secret") == false)
        }
    }
}
