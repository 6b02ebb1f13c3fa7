// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("The changes of a cache", .timeLimit(.minutes(5)))
struct ChangesTests {
    /// So long that no timer has a part in the test.
    private static let never = Duration.seconds(86_400)
    /// So short that a test need not wait for what inotify cannot see.
    private static let soon = Duration.milliseconds(2)

    private static func ready(_ url: IconURL, _ text: String) -> Change {
        .iconReady(url: url, image: Sample.image(text))
    }

    private static func replaced(_ url: IconURL, _ text: String) -> Change {
        .iconReplaced(url: url, image: Sample.image(text))
    }

    @Test("changes of a cache begin with the present state, and go on with what is published")
    func changes() async throws {
        try await withCache { published in
            try published.publish(7, ["b": ["u": "1", "v": nil], "a": ["u": "1"]])
            var changes = published.cache.polling(every: Self.never).changes().makeAsyncIterator()
            try await expect(&changes, [.listAdded("a"), .listAdded("b"), Self.ready("u", "1")])
            try published.publish(8, ["b": ["u": "2", "v": "3"], "a": ["u": "2"]])
            try await expect(
                &changes, [.listChanged("a"), .listChanged("b"), Self.replaced("u", "2"), Self.ready("v", "3")])
            try published.publish(9, ["c": ["v": "3"], "a": ["u": "2"]])
            try await expect(&changes, [.listRemoved("b"), .listAdded("c")])
            try published.publish(10, ["c": ["v": nil], "a": ["u": "2"]])
            try await expect(&changes, [.listChanged("c"), .iconGone(url: "v")])
        }
    }

    @Test("changes of a cache reach waiting readers at once")
    func waiting() async throws {
        try await withCache { published in
            try published.publish(0, ["0": [:]])
            try await withThrowingTaskGroup(of: [Change].self) { group in
                let (told, telling) = AsyncStream.makeStream(of: Change.self)
                group.addTask {
                    var all: [Change] = []
                    for try await change in published.cache.polling(every: Self.never).changes() {
                        all.append(change)
                        telling.yield(change)
                        if change == .listAdded("20") { break }
                    }
                    return all
                }
                var number = 0
                for await change in told where change == .listAdded("\(number)") {
                    number += 1
                    if number > 20 { break }
                    try published.publish(number, ["\(number)": [:]])
                }
                let expected = (1...20).flatMap { [Change.listRemoved("\($0 - 1)"), .listAdded("\($0)")] }
                #expect(try await group.next() == [.listAdded("0")] + expected)
            }
        }
    }

    @Test("changes that come faster than they are read lead to the newest state")
    func storm() async throws {
        try await withCache { published in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...100 {
                        try published.publish(number, ["a": ["u": "\(number)"], "\(number % 3)": [:]])
                    }
                }
                var texts: [AppListDocument.Image] = []
                for try await change in published.cache.polling(every: Self.never).changes() {
                    switch change {
                    case .iconReady(_, let image), .iconReplaced(_, let image): texts.append(image)
                    case .iconGone: Issue.record("it was never gone")
                    case .listAdded, .listChanged, .listRemoved: break
                    }
                    if texts.last == Sample.image("100") { break }
                }
                #expect(Set(texts).count == texts.count)
                try await group.waitForAll()
            }
        }
    }

    @Test("a generation with the same documents makes no changes")
    func sameDocuments() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": "1"]])
            var changes = published.cache.polling(every: Self.never).changes().makeAsyncIterator()
            try await expect(&changes, [.listAdded("a"), Self.ready("u", "1")])
            try published.publish(2, ["a": ["u": "1"]])
            try published.publish(3, ["a": ["u": "1"], "b": [:]])
            try await expect(&changes, [.listAdded("b")])
        }
    }

    @Test(
        "changes are read once there is a cache, after it was away, and after another replaced it")
    func folders() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            let (told, telling) = AsyncThrowingStream.makeStream(of: Change.self)
            let task = Task {
                for try await change in IconCache(at: path).polling(every: Self.soon).changes() {
                    telling.yield(change)
                }
                telling.finish()
            }
            defer { task.cancel() }
            var changes = told.makeAsyncIterator()

            try PublishedCache(at: path).publish(1, ["a": ["u": "1"]])
            try await expect(&changes, [.listAdded("a"), Self.ready("u", "1")])

            try FileManager.default.removeItem(atPath: path.string)
            try PublishedCache(at: path).publish(1, ["b": ["u": "2"]])
            try await expect(&changes, [.listRemoved("a"), .listAdded("b"), Self.replaced("u", "2")])

            // To inotify nothing happens at the path, nor in the folder that it led to.
            let other = try PublishedCache(at: folder.appending("other"))
            try other.publish(1, ["b": [:]])
            try check(rename(path.string, folder.appending("old").string))
            try check(symlink("other", path.string))
            try await expect(&changes, [.listChanged("b"), .iconGone(url: "u")])
            try other.publish(2, [:])
            try await expect(&changes, [.listRemoved("b")])
        }
    }

    @Test(
        "changes are noticed when the symbolic link to a cache leads elsewhere"
    )
    func polling() async throws {
        try await withTemporaryFolder { folder in
            let link = folder.appending("link")
            for name in ["1", "2"] {
                try PublishedCache(at: folder.appending(name)).publish(1, [ListName(name): [:]])
            }
            try check(symlink("1", link.string))
            var changes = IconCache(at: link).polling(every: Self.soon).changes().makeAsyncIterator()
            try await expect(&changes, [.listAdded("1")])
            try check(symlink("2", folder.appending("new").string))
            try check(rename(folder.appending("new").string, link.string))
            try await expect(&changes, [.listRemoved("1"), .listAdded("2")])
        }
    }

    @Test("changes of a cache end when the task is cancelled, with or without elements left", arguments: [0, 1, 5])
    func cancellation(count: Int) async throws {
        try await withCache { published in
            try published.publish(1, ["a": [:], "b": [:]])
            let (told, telling) = AsyncStream.makeStream(of: Change.self)
            let task = Task {
                var changes: [Change] = []
                for try await change in published.cache.polling(every: Self.never).changes() {
                    changes.append(change)
                    telling.yield(change)
                    if changes.count == count { withUnsafeCurrentTask { $0?.cancel() } }
                }
                return changes
            }
            if count != 1 {
                for await change in told where change == .listAdded("b") { break }
                task.cancel()
            }
            #expect(try await task.value == (count == 1 ? [.listAdded("a")] : [.listAdded("a"), .listAdded("b")]))
        }
    }

    @Test("changes of a cache end with the error of a manifest or document that cannot be read")
    func errors() async throws {
        try await withCache { published in
            let manifest = try published.publish(1, ["a": ["u": "1"]])
            let sequence = published.cache.polling(every: Self.never).changes()
            var changes = sequence.makeAsyncIterator()
            try await expect(&changes, [.listAdded("a"), Self.ready("u", "1")])
            try published.publish(
                Manifest(
                    generation: 2, published: Sample.time,
                    lists: [
                        "a": .init(
                            sha256: .of("missing"), apps: 1, ready: 1, pending: 0, failed: 0)
                    ]))
            let path = published.path(CacheLayout.document(.of("missing"))).string
            await #expect(throws: IconCacheError.unreadable(path: path, errno: .noSuchFileOrDirectory)) {
                try await changes.next()
            }
            #expect(try await changes.next() == nil)
            // A new iteration begins with the state that is there then.
            try published.publish(Manifest(generation: 3, published: Sample.time, lists: manifest.lists))
            var anew = sequence.makeAsyncIterator()
            try await expect(&anew, [.listAdded("a"), Self.ready("u", "1")])
        }
    }

    @Test(
        "changes of a cache go on if documents are removed while they are read",
        .enabled(if: OpeningGate.isSupported, "this file system has no leases on files"))
    func withdrawal() async throws {
        try await withCache { published in
            let old = try published.publish(1, ["a": [:], "b": ["u": "1"]])
            let gate = try OpeningGate(at: published.path(try #require(old.lists["a"]?.document)))
            let (told, telling) = AsyncThrowingStream.makeStream(of: Change.self)
            let task = Task {
                do {
                    for try await change in published.cache.polling(every: Self.never).changes() {
                        telling.yield(change)
                    }
                } catch {
                    telling.finish(throwing: error)
                }
            }
            defer { task.cancel() }
            let document = try #require(old.lists["b"]?.document)
            try await onThread {
                try gate.whileOneWaits {
                    try published.publish(2, ["a": [:], "c": ["u": "1"]])
                    try published.remove(document)
                }
            }
            var changes = told.makeAsyncIterator()
            try await expect(&changes, [.listAdded("a"), .listAdded("c"), Self.ready("u", "1")])
        }
    }

    @Test("changes of a cache leave no file open, however many were followed and cancelled")
    func descriptors() async throws {
        try await withCache { published in
            try published.publish(1, ["a": ["u": "1"]])
            let files = OpenFiles(folder: published.folder)
            for _ in 0..<10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            for try await _ in published.cache.polling(every: Self.soon).changes() {}
                        }
                    }
                    try await waitUntil { try files.inotifyCount() > 0 }
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
            var changes = published.cache.polling(every: Self.never).changes().makeAsyncIterator()
            try await expect(&changes, [.listAdded("a"), Self.ready("u", "1")])
            try await waitUntil { try files.inotifyCount() == 1 }
            #expect(try files.count() == 0)
        }
    }
}
