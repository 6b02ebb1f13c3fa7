import HTTPRules
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Entity tags")
struct EntityTagTests {
    @Test(
        "a tag is kept byte for byte, and is strong if it says so",
        arguments: [
            ("\"abc\"", true), ("\"\"", true), ("W/\"abc\"", false), ("\"W/abc\"", true), ("\"a\\\"", true),
            ("\"a, b\"", true), ("\"é\"", true), ("\"e\u{301}\"", true), ("abc", false), ("5f3-2a:b", false),
            ("W/abc", false), ("w/abc", false),
        ])
    func tags(value: String, isStrong: Bool) throws {
        let tag = try #require(EntityTag(value))
        #expect(tag.text.utf8.elementsEqual(value.utf8))
        #expect(tag.isStrong == isStrong)
    }

    @Test(
        "text that could not be sent back unchanged is no entity tag",
        arguments: [
            "", "\"", "W/", "W/\"", "*", "\"a\"b\"", "\"a", "a\"", "w/\"a\"", "W/W/\"a\"", "a b", "a,b", "\"a\", \"b\"",
            "é", "\"\u{FFFD}\"", "\"\u{7F}\"", "\"\(String(repeating: "x", count: 1023))\"",
        ])
    func others(value: String) {
        #expect(EntityTag(value) == nil)
    }

    @Test(
        "two tags match if they differ in nothing but their strength",
        arguments: [
            ("\"a\"", "\"a\"", true), ("W/\"a\"", "\"a\"", true), ("W/\"a\"", "W/\"a\"", true),
            ("\"a\"", "\"A\"", false), ("a", "\"a\"", false), ("\"é\"", "\"e\u{301}\"", false),
        ])
    func matching(one: String, other: String, isMatch: Bool) throws {
        #expect(try #require(EntityTag(one)).matches(try #require(EntityTag(other))) == isMatch)
        #expect(try #require(EntityTag(other)).matches(try #require(EntityTag(one))) == isMatch)
    }
}
