// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import Reports

@Suite("Going through all icons")
struct IconIndexTests {
    private static func index(
        _ lists: [(ListName, [(String?, IconURL)])], retired: [IconURL] = []
    ) -> IconIndex {
        let lists = lists.map { list in
            (name: list.0, entries: AppEntries(list.1.map { AppEntry(name: $0.0, icon: $0.1) }))
        }
        return IconIndex(IconMentions(version: 1, lists: lists, retired: retired))
    }

    /// All URLs, by pages of one size.
    private static func pages(_ index: IconIndex, of size: Int, in list: Int? = nil) throws -> [IconURL] {
        var urls: [IconURL] = []
        var place = 0
        while true {
            let page = index.next(from: &place, in: list, atMost: size)
            guard let last = page.last?.url else { return urls }
            urls += page.map(\.url)
            place = try #require(index.place(of: index.cursor(after: last)))
        }
    }

    @Test("each icon is there once, in the order of the URLs, with all its names", arguments: 1...5)
    func order(size: Int) throws {
        let index = Self.index(
            [
                ("1.plist", [("B", "https://b"), ("A", "https://a"), ("Bee", "https://b"), (nil, "https://d")]),
                ("2.plist", [("B", "https://b"), ("C", "https://c")]),
            ], retired: ["https://aa"])
        #expect(try Self.pages(index, of: size) == ["https://a", "https://aa", "https://b", "https://c", "https://d"])
        #expect(try Self.pages(index, of: size, in: index.number(of: "2.plist")) == ["https://b", "https://c"])
        var place = 0
        let all = index.next(from: &place, in: nil, atMost: 10)
        #expect(all.map(\.names) == [["A"], [], ["B", "Bee"], ["C"], []])
        #expect(index.number(of: "none.plist") == nil)
    }

    @Test("URLs that are long, and alike for long, are told apart", arguments: 1...3)
    func long(size: Int) throws {
        let start = String(repeating: "a", count: 600)
        let urls = (0..<7).map { IconURL("data:\(start)\($0)") } + ["data:\(start)", "z"]
        let index = Self.index([("1.plist", urls.shuffled().map { (nil, $0) })])
        #expect(try Self.pages(index, of: size) == urls.sorted())
    }

    @Test("a cursor goes on where its URL was, also if that is gone")
    func gone() throws {
        let before = Self.index([("1.plist", [(nil, "https://a"), (nil, "https://b"), (nil, "https://c")])])
        let cursor = before.cursor(after: "https://b")
        let after = Self.index([("1.plist", [(nil, "https://a"), (nil, "https://c")])])
        var place = try #require(after.place(of: cursor))
        #expect(after.next(from: &place, in: nil, atMost: 9).map(\.url) == ["https://c"])
    }

    @Test(
        "text that is no cursor is refused",
        arguments: [
            "", "0", "x.61", "-1.61", "+1.61", "1234567890.61", "0.6", "0.6g", "0.+1",
            "0." + String(repeating: "61", count: 600),
        ])
    func cursors(cursor: String) {
        #expect(Self.index([("1.plist", [(nil, "https://a")])]).place(of: cursor) == nil)
    }
}
