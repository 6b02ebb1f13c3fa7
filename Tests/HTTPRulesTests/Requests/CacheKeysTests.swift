// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import HTTPRules

@Suite("Keys of URLs")
struct CacheKeysTests {
    private static func keys(_ host: String, _ ignored: String...) throws -> CacheKeys {
        CacheKeys([CacheKeys.Rule(host: try #require(HostPattern(host)), ignored: ignored)])
    }

    @Test(
        "a key is the URL without the parameters that its host's rule ignores, in their order",
        arguments: [
            ("https://h.example/a?Expires=1&x=2&Signature=3", "https://h.example:443/a?x=2"),
            ("https://h.example/a?Expires=1", "https://h.example:443/a"),
            ("https://h.example/a", "https://h.example:443/a"),
            ("https://H.example/a?Signature", "https://h.example:443/a"),
            ("https://h.example/a?", "https://h.example:443/a?"),
            ("https://h.example/a?X-Amz-Date=1&X-Amz-Signature=2&X-Am=3", "https://h.example:443/a?X-Am=3"),
            ("https://h.example/a?expires=1", "https://h.example:443/a?expires=1"),
            ("https://h.example/a?b=Expires=1", "https://h.example:443/a?b=Expires=1"),
            ("https://h.example/a?y=1&x=2", "https://h.example:443/a?y=1&x=2"),
            ("https://h.example/a?x=1&&Expires=2", "https://h.example:443/a?x=1&"),
            ("https://h.example/a?Expires=1#f", "https://h.example:443/a"),
            ("http://h.example:81/a?Expires=1", "http://h.example:81/a"), ("https://g.example/a?Expires=1", nil),
            ("https://x.h.example/a?Expires=1", nil), ("data:image/png,x", nil), ("ftp://h.example/a", nil),
        ] as [(IconURL, IconURL?)])
    func keys(url: IconURL, key: IconURL?) throws {
        #expect(try Self.keys("h.example", "Signature", "Expires", "X-Amz-*").key(of: url) == key)
        #expect(CacheKeys().key(of: url) == nil)
    }

    @Test("validators go to URLs with their key, and to no others")
    func conditions() throws {
        let keys = try Self.keys("*.h.example", "sig")
        let first = "https://a.h.example/1?sig=1"
        for (url, applies) in [
            ("https://a.h.example/1?sig=1", true), ("https://a.h.example/1?sig=2", true),
            ("https://a.h.example/1", true), ("https://a.h.example/2?sig=1", false),
            ("https://b.h.example/1?sig=1", false), ("http://a.h.example/1?sig=1", false),
        ] {
            #expect(keys.areSame(first, try FetchTarget(url)) == applies, "\(url)")
        }
        #expect(!CacheKeys().areSame(first, try FetchTarget("https://a.h.example/1?sig=2")))
    }
}
