// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@testable import CacheFormat

@Suite("The levels of a JSON document")
struct JSONNestingTests {
    private struct Empty: Decodable {}

    private static func nested(_ levels: Int, _ value: String = "0") -> String {
        #"{ "x": "# + String(repeating: "[", count: levels - 1) + value + String(repeating: "]", count: levels - 1)
            + "}"
    }

    @Test(
        "a document has at most 512 levels; brackets in texts are none",
        arguments: [
            (nested(1), true), (nested(512), true), (nested(513), false),
            (nested(512, #""[[{{""#), true), (nested(512, #""\"[""#), true), (nested(512, #""\\", []"#), false),
            (nested(512, "{}"), false), ("{}", true), ("", false),
        ])
    func levels(text: String, isGood: Bool) {
        let document = try? JSONDecoder().decode(Empty.self, untrusted: Data(text.utf8))
        #expect((document != nil) == isGood)
    }
}
