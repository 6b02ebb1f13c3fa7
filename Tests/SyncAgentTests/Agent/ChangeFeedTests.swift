// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The feed of changes")
struct ChangeFeedTests {
    @Test("the feed has an element at once, one for all later changes, and an end")
    func elements() async {
        let feed = ChangeFeed()
        var changes = feed.changes.makeAsyncIterator()
        #expect(await changes.next() != nil)
        for _ in 0..<100 { feed.emit() }
        #expect(await changes.next() != nil)
        async let next: Void? = changes.next()
        feed.emit()
        #expect(await next != nil)
        feed.emit()
        feed.end()
        var late = feed.changes.makeAsyncIterator()
        #expect(await late.next() == nil)
        #expect(await feed.next(after: 0) == nil)
    }

    @Test("all followers of the feed reach the last change, and cancelled ones their end")
    func watchers() async {
        let feed = ChangeFeed()
        let value = Counter()
        await withTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    for await _ in feed.changes where value.last == 1000 { return }
                }
            }
            group.addTask {
                for _ in 0..<1000 {
                    _ = value.next()
                    feed.emit()
                    await Task.yield()
                }
            }
        }
        let watcher = Task { for await _ in feed.changes {} }
        await Task.yield()
        watcher.cancel()
        await watcher.value
    }
}
