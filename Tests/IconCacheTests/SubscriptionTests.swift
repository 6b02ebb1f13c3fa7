// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import IconCache

@Suite("The changes of one list, or of one icon", .timeLimit(.minutes(5)))
struct SubscriptionTests {
    /// So long that no timer has a part in the test.
    private static let never = Duration.seconds(86_400)

    @Test("changes of a list begin with its present document, and go on with each other one")
    func list() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": nil], "b": [:]])
            var documents = published.cache.polling(every: Self.never).changes(ofList: "a").makeAsyncIterator()
            try await expect(&documents, [Sample.document("a", ["u": nil])])
            // The next element is not that of a generation in which the list is the same.
            try published.publish(2, ["a": ["u": nil], "b": ["u": nil]])
            try published.publish(3, ["a": ["u": "1"], "b": ["u": "1"]])
            try await expect(&documents, [Sample.document("a", ["u": "1"])])
            try published.publish(4, ["b": ["u": "1"]])
            try await expect(&documents, [nil])
            try published.publish(5, ["b": [:]])
            try published.publish(6, ["a": [:]])
            try await expect(&documents, [Sample.document("a", [:])])
            var late = published.cache.polling(every: Self.never).changes(ofList: "a").makeAsyncIterator()
            try await expect(&late, [Sample.document("a", [:])])
            var other = published.cache.polling(every: Self.never).changes(ofList: "b").makeAsyncIterator()
            try await expect(&other, [nil])
        }
    }

    @Test("changes of an icon begin with its present state, and go on with each other one")
    func icon() async throws {
        try await withCache { published in
            func app(_ url: IconURL, _ state: AppListDocument.State) -> AppListDocument.App {
                AppListDocument.App(name: nil, icon: url, download: nil, state: state)
            }
            try published.publish(1, ["a": ["v": "1"]])
            var states = published.cache.polling(every: Self.never).changes(ofIcon: "u").makeAsyncIterator()
            try await expect(&states, [nil])
            try published.publish(2, ["a": ["v": "2", "u": nil]])
            try await expect(&states, [.pending])
            let failed = AppListDocument.State.failed(error: "http-404")
            try published.publish(3, documents: [Sample.document("a", apps: [app("v", failed), app("u", failed)])])
            try await expect(&states, [failed])
            // The next element is not that of a generation in which the icon is the same, in whatever list.
            try published.publish(4, documents: [Sample.document("b", apps: [app("u", failed), app("v", .pending)])])
            try published.publish(5, ["b": ["u": "1"], "c": ["u": "1"]])
            try await expect(&states, [.ready(Sample.image("1"))])
            try published.publish(6, ["c": ["u": "1"]])
            try published.publish(7, ["c": ["u": "2"]])
            try await expect(&states, [.ready(Sample.image("2"))])
            try published.publish(8, ["c": ["v": "2"]])
            try await expect(&states, [nil])
            var late = published.cache.polling(every: Self.never).changes(ofIcon: "v").makeAsyncIterator()
            try await expect(&late, [.ready(Sample.image("2"))])
        }
    }

    @Test("changes of an icon ignore URLs that begin alike, and other keys of other entries")
    func spelling() async throws {
        try await withCache { published in
            let entry = AppListDocument.App(
                name: "\"icon\": \"u\"", icon: "u/1", download: "u", state: .ready(Sample.image("1")))
            try published.publish(1, documents: [Sample.document("a", apps: [entry])])
            var states = published.cache.polling(every: Self.never).changes(ofIcon: "u").makeAsyncIterator()
            try await expect(&states, [nil])
        }
    }

    @Test("changes of a list or icon begin with nil without a cache; its absence later is no change")
    func noCache() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            let list = SubscriptionReader(IconCache(at: path), KnownDocument("a"))
            let icon = SubscriptionReader(IconCache(at: path), KnownIcon("u"))
            #expect(try await list.changes() == [nil])
            #expect(try await icon.changes() == [nil])
            #expect(try await list.changes().isEmpty)
            #expect(try await icon.changes().isEmpty)
            for text in ["1", "2"] {
                try PublishedCache(at: path).publish(1, ["a": ["u": text]])
                #expect(try await list.changes() == [Sample.document("a", ["u": text])])
                #expect(try await icon.changes() == [.ready(Sample.image(text))])
                try FileManager.default.removeItem(atPath: path.string)
                #expect(try await list.changes().isEmpty)
                #expect(try await icon.changes().isEmpty)
            }
        }
    }

    @Test("changes of a list read no document but its own")
    func otherDocument() async throws {
        try await withCache { published in
            let manifest = try published.publish(1, ["a": ["u": "1"], "b": [:]])
            try published.remove(try #require(manifest.lists["b"]).document)
            var documents = published.cache.polling(every: Self.never).changes(ofList: "a").makeAsyncIterator()
            try await expect(&documents, [Sample.document("a", ["u": "1"])])
            var states = published.cache.polling(every: Self.never).changes(ofIcon: "u").makeAsyncIterator()
            await #expect(throws: IconCacheError.self) { try await states.next() }
            #expect(try await states.next() == nil)
        }
    }
}
