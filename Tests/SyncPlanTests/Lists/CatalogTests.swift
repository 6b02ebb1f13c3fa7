// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("The catalog of lists and icons")
struct CatalogTests {
    @Test("an icon knows the lists that name it")
    func lists() {
        var catalog = Sample.catalog
        #expect(catalog.setList("1.plist", Sample.list(["a", "b", "a"])).added == ["a", "b"])
        #expect(catalog.setList("2.plist", Sample.list(["b"])).added == ["b"])
        #expect(catalog.icons["a"]?.lists == ["1.plist"])
        #expect(Set(catalog.icons["b"]?.lists ?? []) == ["1.plist", "2.plist"])

        #expect(catalog.setList("1.plist", Sample.list(["c"])).removed == ["a", "b"])
        #expect(catalog.icons["a"]?.isReferenced == false)
        #expect(catalog.icons["b"]?.lists == ["2.plist"])

        #expect(catalog.removeList("2.plist").removed == ["b"])
        #expect(catalog.icons["b"]?.isReferenced == false)
        #expect(catalog.removeList("2.plist").removed.isEmpty)
    }

    @Test("an image is needed as long as a referenced icon shows it")
    func needs() {
        var catalog = Sample.catalog
        func needsName() -> Bool { catalog.icons.id(of: "a").map { catalog.needsName(of: $0) } ?? false }
        _ = catalog.setList("1.plist", Sample.list(["a"]))
        _ = catalog.setList("2.plist", Sample.list(["b"]))
        #expect(!catalog.images[Sample.id("x")].isShown && !needsName())
        catalog.apply(.found("x"), to: "a")
        catalog.apply(.found("x"), to: "b")
        #expect(catalog.images[Sample.id("x")].isShown && needsName())
        _ = catalog.removeList("1.plist")
        #expect(catalog.images[Sample.id("x")].isShown && !needsName())
        for event in [IconEvent.evicted, .found("y")] { catalog.apply(event, to: "b") }
        #expect(!catalog.images[Sample.id("x")].isShown && catalog.images[Sample.id("y")].isShown)
        _ = catalog.setList("3.plist", Sample.list(["a"]))
        #expect(catalog.images[Sample.id("x")].isShown && needsName())
        catalog.apply(.lost, to: "a")
        #expect(!catalog.images[Sample.id("x")].isShown && !needsName())
    }

    @Test("an image is accepted if one of the lists that give its digest gives this one")
    func expected() {
        var catalog = Sample.catalog
        func list(_ word: String?) -> Sample.List {
            Sample.list(of: [AppEntry(icon: "a", expected: word.map(Digest.of))])
        }
        func accepted() -> [Bool?] { ["x", "y", "z"].map { catalog.icons["a"]?.accepts(.of($0)) } }
        _ = catalog.setList("1.plist", list(nil))
        #expect(accepted() == [true, true, true])
        _ = catalog.setList("2.plist", list("x"))
        #expect(accepted() == [true, false, false])
        _ = catalog.setList("3.plist", list("y"))
        #expect(accepted() == [true, true, false])
        _ = catalog.removeList("2.plist")
        #expect(accepted() == [false, true, false])
        #expect(catalog.setList("3.plist", list(nil)).expected == ["a": []])
        #expect(accepted() == [true, true, true])
    }

    @Test("a document has the list's order, and each entry's state")
    func document() throws {
        var catalog = Sample.catalog
        _ = catalog.setList("1.plist", Sample.list(["b", "a", "c", "b"]))
        catalog.apply(.found("x"), to: "a")
        let failure = IconRecord.Failure(code: .fetch(.timeout), message: "", attempts: 1, nextAttempt: nil)
        catalog.apply(.failed(failure), to: "c")
        let document = try #require(catalog.document(of: "1.plist"))
        #expect(document.apps.map(\.icon) == ["b", "a", "c", "b"])
        #expect(
            document.apps.map(\.state) == [.pending, .ready(Sample.image("x")), .failed(error: "timeout"), .pending])
        #expect(document.source == Sample.source(["b", "a", "c", "b"]))
        #expect(catalog.document(of: "2.plist") == nil)
    }

    @Test("of two last images that came from one URL, the one that is still shown is told")
    func lastImages() {
        var catalog = Sample.catalog
        for (list, icon, word) in [("1.plist", "v", "x"), ("2.plist", "w", "y")] as [(ListName, IconURL, String)] {
            _ = catalog.setList(list, Sample.list([icon]))
            let last = App.LastImage(url: "u", image: Sample.id(word), since: nil)
            catalog.changePast(of: AppIndex(list: list, position: 0)) { $0.last = last }
        }
        #expect(catalog.lastImage(from: "u") == Sample.id("x"))
        catalog.apply(.found("z"), to: "v")
        #expect(catalog.lastImage(from: "u") == Sample.id("y"))
        #expect(catalog.icons(replacedByImageOf: "u") == ["w": ["2.plist"]])
        _ = catalog.removeList("2.plist")
        #expect(catalog.lastImage(from: "u") == nil && !catalog.hasLastImages)
    }

    @Test("a list has its URLs as texts while it waits for images, and makes them of their bytes later")
    func waiting() {
        var catalog = Sample.catalog
        _ = catalog.setList("1.plist", Sample.list(["a", "b", "a"]))
        for (url, word) in [("a", "x"), ("b", "y")] as [(IconURL, String)] {
            #expect(catalog.lists["1.plist"]?.apps.urls == ["a", "b", "a"])
            catalog.apply(.found(word), to: url)
            catalog.endWaiting(of: ["1.plist"])
        }
        #expect(catalog.lists["1.plist"]?.apps.urls == nil && catalog.urls(in: "1.plist") == ["a", "b", "a"])
        #expect(catalog.document(of: "1.plist")?.apps.map(\.icon) == ["a", "b", "a"])
    }

    @Test("a list without a good version has no document")
    func rejected() {
        var catalog = Sample.catalog
        var list = Sample.list([])
        list.record.source = nil
        _ = catalog.setList("1.plist", list)
        #expect(catalog.document(of: "1.plist") == nil)
    }

    @Test("two spellings that are the same text to Swift are two URLs and two lists")
    func spellings() {
        let (one, two): (IconURL, IconURL) = ("http://a/caf\u{E9}?x", "http://a/cafe\u{301}?x")
        let (first, second): (ListName, ListName) = ("caf\u{E9}.plist", "cafe\u{301}.plist")
        #expect(one.text == two.text && one != two && first != second)
        var catalog = Sample.catalog
        #expect(catalog.setList(first, Sample.list([one, two])).added == [one, two])
        #expect(catalog.setList(second, Sample.list([two])).added == [two])
        #expect(catalog.icons[one]?.lists == [first] && catalog.icons[two]?.lists == [first, second])
        #expect(catalog.removeList(first).removed == [one, two])
        #expect(catalog.icons[one]?.isReferenced == false && catalog.icons[two]?.lists == [second])
        #expect(catalog.document(of: second)?.apps.map(\.icon) == [two])
    }
}
