// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CacheFormat

@Suite("Text from outside on terminals and in logs")
struct PrintableTests {
    @Test(
        "characters that act on a terminal, reorder text or end a line are escaped",
        arguments: [
            ("", ""), ("apps.plist", "apps.plist"), ("Über 日本 ✓", "Über 日本 ✓"), ("a\\b \"c\"", "a\\b \"c\""),
            ("a\nb\r\tc\0", "a\\u000ab\\u000d\\u0009c\\u0000"), ("\u{1B}[31mred\u{7F}", "\\u001b[31mred\\u007f"),
            ("\u{85}\u{9B}31m", "\\u0085\\u009b31m"), ("\u{202A}\u{202E}gnp.exe", "\\u202a\\u202egnp.exe"),
            ("\u{2066}a\u{2069}\u{200E}\u{61C}", "\\u2066a\\u2069\\u200e\\u061c"),
            ("a\u{2028}b\u{2029}c", "a\\u2028b\\u2029c"),
            ("in\u{AD}vis\u{200B}ible\u{FEFF}", "in\\u00advis\\u200bible\\ufeff"),
            ("\u{E0041}", "\\udb40\\udc41"), ("\\u202e", "\\u202e"),
        ])
    func escapes(text: String, expected: String) {
        #expect(printable(text) == expected)
        #expect(printable(expected) == expected)
    }

    @Test("JSON text stays the same document, and keeps its lines")
    func json() throws {
        let text = "\u{1B}\u{9B}\n\u{202E}\u{2028}\u{E0041}\"\\"
        let document = JSON.lines(.array([.string(text), .string("é")]))
        let shown = printable(lines: document.text)
        #expect(shown == "[\n  \"\\u001b\\u009b\\n\\u202e\\u2028\\udb40\\udc41\\\"\\\\\",\n  \"é\"\n]")
    }
}
