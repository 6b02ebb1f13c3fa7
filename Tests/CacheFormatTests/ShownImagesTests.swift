// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import TestSupport
import Testing

@Suite("Images shown for URLs")
struct ShownImagesTests {
    private static func app(_ icon: IconURL, _ word: String?, from previous: IconURL? = nil) -> AppListDocument.App {
        AppListDocument.App(
            name: nil, icon: icon, download: nil, state: word.map { .ready(Sample.image($0)) } ?? .pending,
            previous: previous.map { AppListDocument.Previous(icon: $0, since: nil) })
    }

    @Test("the image shown for a URL is its own, or else the previous one of the first app of the first list")
    func order() {
        var shown = ShownImages()
        shown.add(
            Sample.document(
                "a.plist",
                apps: [
                    Self.app("u", nil), Self.app("u", "1", from: "old1"), Self.app("u", "2", from: "old2"),
                    Self.app("v", "3", from: "old3"), Self.app("w", nil),
                ]))
        shown.add(Sample.document("b.plist", apps: [Self.app("u", "4", from: "old4"), Self.app("v", "5")]))
        #expect(shown.byURL.mapValues(\.image) == ["u": Sample.image("1"), "v": Sample.image("5")])
    }
}
