// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Rejections that tell what to write instead")
struct RejectionTextTests {
    @Test(
        "a dictionary of name and URL in which two names are the same text is rejected",
        arguments: [["caf\u{E9}", "cafe\u{301}"], ["Mail", "Mail"]])
    func repeatedNames(names: [String]) {
        let pairs = names.enumerated().map { number, name in
            "<key>\(name)</key><string>https://example.com/\(number).png</string>"
        }
        let verdict = ListParser().parse("<plist><dict>\(pairs.joined())</dict></plist>")
        #expect(verdict == .failure(.repeatedKeys))
        #expect(ListRejection.repeatedKeys.message.contains("Some names are in the dictionary twice"))
    }
}
