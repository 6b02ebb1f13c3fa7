// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Testing

@Suite("Patterns of lists")
struct ListPatternTests {
    @Test(
        "a pattern matches the whole name of an app list",
        arguments: [
            ("*.plist", "apps.plist", true), ("*.plist", ".plist", false), ("*.plist", ".x.plist", false),
            ("*.plist", "#x.plist", false), ("*.plist", "a/b.plist", false), ("*.plist", "apps.txt", false),
            ("apps.plist", "apps.plist", true), ("apps.plist", "Apps.plist", false),
            ("apps.plist", "xapps.plist", false),
            ("team-?.plist", "team-1.plist", true), ("team-?.plist", "team-12.plist", false),
            ("a*b*c.plist", "aXbYbZc.plist", true), ("a*b*c.plist", "abc.plist", true),
            ("a*b*c.plist", "ac.plist", false), ("*a*.plist", "banana.plist", true), ("**.plist", "x.plist", true),
            ("*.plist", "apps.plist\0.plist", false), ("*.plist", "a\n.plist", false),
            ("*.plist", "a\u{7F}.plist", false),
            ("?.plist", "é.plist", false), ("*.plist", "é.plist", true),
        ] as [(String, ListName, Bool)])
    func matches(pattern: String, name: ListName, isMatch: Bool) throws {
        #expect(try #require(ListPattern(pattern)).matches(name) == isMatch)
    }

    @Test(
        "text that no list can match is no pattern",
        arguments: ["", "*", "apps", "../*.plist", "a/*.plist", "a,b.plist"])
    func invalid(text: String) { #expect(ListPattern(text) == nil) }
}
