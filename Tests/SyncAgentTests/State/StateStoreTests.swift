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
            validators: Validators(etag: "W/\"x\"", lastModified: "Fri, 20 Nov 2026 10:00:00 GMT"),
            freshUntil: Timestamp(sinceEpoch: .milliseconds(1_795_000_000_123)), failure: nil),
        IconMemo(
            url: "https://example.com/“b”.png", image: nil, validators: Validators(),
            freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(
                code: "http-503", message: "the server answered 503", attempts: 3,
                nextAttempt: Timestamp(sinceEpoch: .seconds(1_795_000_100)))),
        IconMemo(
            url: "ftp://example.com/c.png", image: nil, validators: Validators(),
            freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(code: "scheme-refused", message: "", attempts: 1, nextAttempt: nil)),
    ]

    @Test("memos come back as they were, the newest of each URL, without the forgotten ones")
    func remember() async throws {
        try await withTemporaryFolder { folder in
            let store = try StateStore(folder: folder, logger: logger)
            try await store.apply(MemoChanges(remembered: memos))
            #expect(Set(try await store.memos().map(\.url)) == Set(memos.map(\.url)))
            let again = try StateStore(folder: folder, logger: logger)
            for memo in try await again.memos() { #expect(memos.contains(memo)) }
            try await again.apply(MemoChanges(forgotten: [memos[0].url]))
            #expect(try await again.memos().count == 2)
        }
    }

    @Test(
        "a damaged database is set aside, and a new one begun", arguments: ["nonsense", "SQLite format 3\u{0}nonsense"])
    func damaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            let file = try CacheFolder(folder)
            try file.write(String(repeating: text, count: 1000).utf8, to: "state.sqlite", mode: .ownerReadWrite)
            let store = try StateStore(folder: folder, logger: logger)
            #expect(try await store.memos().isEmpty)
            try await store.apply(MemoChanges(remembered: memos))
            #expect(file.entry("state.sqlite.damaged") != nil)
        }
    }
}
