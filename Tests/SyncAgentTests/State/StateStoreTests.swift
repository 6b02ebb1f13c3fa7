// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Logging
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("What is remembered over a restart")
struct StateStoreTests {
    private let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

    private let memos = [
        IconMemo(
            url: "https://example.com/a.png", image: Digest.of("a"),
            response: StoredResponse(
                fields: HTTPFields([("ETag", "W/\"x\""), ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")]),
                requestTime: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_001)),
                responseTime: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_002))),
            freshUntil: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_123)), failure: nil),
        IconMemo(
            url: "https://example.com/“b”.png", image: nil, response: nil,
            freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(
                code: "http-503", message: "the server answered 503", attempts: 3,
                nextAttempt: Timestamp(sinceEpoch: .seconds(1_795_000_100)))),
        IconMemo(
            url: "ftp://example.com/c.png", image: nil, response: nil,
            freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(code: "scheme-refused", message: "", attempts: 1, nextAttempt: nil)),
    ]

    @Test("memos come back as they were, the newest of each URL, without the forgotten ones")
    func remember() async throws {
        try await withTemporaryFolder { folder in
            let store = try StateStore(folder: folder, logger: logger)
            try await store.apply(MemoChanges(remembered: memos))
            let again = try StateStore(folder: folder, logger: logger)
            let byURL = { (memos: [IconMemo]) in memos.sorted { $0.url < $1.url } }
            #expect(byURL(again.restored.icons) == byURL(memos))
            try await again.apply(MemoChanges(forgotten: [memos[0].url]))
            let rest = try StateStore(folder: folder, logger: logger).restored.icons
            #expect(byURL(rest) == byURL(Array(memos.dropFirst())))
        }
    }

    @Test("origins that are not well, and a pause, come back")
    func originsAndPause() async throws {
        try await withTemporaryFolder { folder in
            let memo = OriginMemo(
                origin: "http://a", health: OriginHealth(failures: 5, waitsUntil: Timestamp(sinceEpoch: .seconds(1))))
            var changes = MemoChanges()
            changes.origins = [memo, OriginMemo(origin: "http://b", health: OriginHealth(failures: 1))]
            changes.isPaused = true
            try await StateStore(folder: folder, logger: logger).apply(changes)
            changes = MemoChanges()
            changes.forgottenOrigins = ["http://b"]
            let store = try StateStore(folder: folder, logger: logger)
            #expect(store.restored.isPaused && store.restored.origins.count == 2)
            try await store.apply(changes)
            let again = try StateStore(folder: folder, logger: logger)
            #expect(again.restored.isPaused && again.restored.origins == [memo])
            changes.isPaused = false
            try await again.apply(changes)
            #expect(try !StateStore(folder: folder, logger: logger).restored.isPaused)
        }
    }

    @Test(
        "a damaged database is set aside, and a new one begun", arguments: ["nonsense", "SQLite format 3\u{0}nonsense"])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let file = try CacheFolder(folder)
            try file.write(String(repeating: text, count: 1000).utf8, to: "state.sqlite", mode: .ownerReadWrite)
            let store = try StateStore(folder: folder, logger: logger)
            #expect(store.restored.icons.isEmpty)
            try await store.apply(MemoChanges(remembered: memos))
            #expect(file.entry("state.sqlite.damaged") != nil)
        }
    }

    @Test("damage in the middle of the database is found, and it is set aside")
    func damagedPages() async throws {
        try await withTemporaryFolder { folder in
            let many = (0..<2000).map { number in
                var memo = memos[0]
                memo.url += "?\(number)"
                return memo
            }
            do {
                let store = try StateStore(folder: folder, logger: logger)
                try await store.apply(MemoChanges(remembered: many))
                try await store.close()
            }
            let file = try FileDescriptor.open(folder.appending("state.sqlite"), .readWrite)
            try file.closeAfter {
                for page in stride(from: 4, to: 60, by: 4) {
                    try file.writeAll(toAbsoluteOffset: Int64(page * 4096), [UInt8](repeating: 0xA5, count: 4096))
                }
            }
            let store = try StateStore(folder: folder, logger: logger)
            #expect(store.restored.icons.isEmpty)
            #expect(try CacheFolder(folder).entry("state.sqlite.damaged") != nil)
        }
    }

    @Test("a folder that cannot hold a database is an error that names it")
    func unusable() async throws {
        try await withTemporaryFolder { folder in
            try #require(mkdir(folder.appending("state.sqlite").string, 0o755) == 0)
            let error = #expect(throws: FileError.self) { try StateStore(folder: folder, logger: logger) }
            #expect(error?.path == folder.appending("state.sqlite").string)
        }
    }
}
