import HTTPRules
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Patterns of hosts")
struct HostPatternTests {
    @Test(
        "a host pattern matches a name, the names below it, or both; an address matches itself",
        arguments: [
            ("icons.corp", ["icons.corp", "ICONS.Corp", "icons.corp."], ["a.icons.corp", "corp", "xicons.corp"]),
            ("Icons.CORP.", ["icons.corp"], ["a.icons.corp"]),
            (".corp", ["corp", "icons.corp", "a.icons.corp."], ["xcorp", "corp.example"]),
            ("*.corp", ["icons.corp", "a.icons.corp"], ["corp", "xcorp", "*.corp.example"]),
            ("10.0.0.1", ["10.0.0.1"], ["10.0.0.2", "1.10.0.0.1", "::ffff:10.0.0.1"]),
            ("::1", ["::1", "0:0:0:0:0:0:0:1"], ["127.0.0.1", "localhost"]),
            ("xn--bcher-kva.example", ["xn--bcher-kva.example"], []),
        ])
    func matches(entry: String, hosts: [String], others: [String]) throws {
        let pattern = try #require(HostPattern(entry))
        for host in hosts { #expect(pattern.matches(host), "\(host)") }
        for host in others { #expect(!pattern.matches(host), "\(host)") }
    }

    @Test(
        "text that no host can be is no host pattern",
        arguments: [
            "", ".", "*", "*.", "..corp", "*.*.corp", "a..corp", "a*.corp", "http://icons.corp", "icons.corp:443",
            "icons.corp/", "user@icons.corp", "10.0.0.0/8", "10.1", "*.10.0.0.1", "256.0.0.1", "[::1]", "::g",
            "b\u{FC}cher.example",
            "icons corp", "icons.corp..", "\(String(repeating: "a", count: 254))",
        ])
    func refuse(entry: String) {
        #expect(HostPattern(entry) == nil)
    }
}
