// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Resumed downloads over real sockets")
struct ResumeOverSocketsTests {
    /// Downloads the icon from an origin that holds back the end of its first answer, and again as another agent.
    ///
    /// Once the beginning is on disk, the origin does the step, if there is one, and the download may be cancelled.
    ///
    /// - Returns: Whether the beginning came to the disk before the first download ended.
    private func resume(
        after step: RawOrigin.Step?, _ settings: Settings, isCancelled: Bool = false, expecting code: String
    ) async throws -> Bool {
        let hasBegun = Gate()
        let never = Gate()
        let requests = Mutex<[String]>([])
        return try await RawOrigin.run { request in
            requests.withLock { $0.append(contentsOf: request.values(of: "Range")) }
            let reply = request.rangeReply(CutIcon.streamed, entityTag: "\"1\"")
            guard request.number == 1 else { return [.send(reply)] }
            return [.send(reply.dropLast(100_000)), .wait(hasBegun), step ?? .wait(never)]
        } _: { origin in
            try await withTemporaryFolder { path in
                let ended = Counter()
                let cache = try CacheFixture(path)
                let url = origin.baseURL + "/icon"
                let part = "staging/" + PartialDownload.file(of: IconURL(url))
                let first = Task {
                    defer { _ = ended.next() }
                    return try await cache.fetch([url], settings)
                }
                try await waitUntil { try cache.folder.entry(part)?.size ?? 0 > 0 || ended.last > 0 }
                guard ended.last == 0 else { return false }
                hasBegun.open()
                if isCancelled { first.cancel() }
                let codes = try await first.value.map(\.code)
                #expect(codes == [code])
                let begun = try #require(try cache.folder.entry(part)).size
                // The second attempt is that of another agent.
                let restarted = try CacheFixture(path)
                #expect(restarted.restored.partials.map(\.url.text) == [url])
                var settings = settings
                settings.fetch.idleTimeout = .seconds(60)
                settings.fetch.totalTimeout = .seconds(120)
                let fetches = try await restarted.fetch([url], settings)
                #expect(fetches.last?.digest == .of(CutIcon.streamed) && fetches.last?.isTidy == true)
                #expect(requests.withLock(\.self) == ["bytes=\(begun)-"])
                return true
            }
        }
    }

    /// The same with a limit on time, which a busy machine may reach before the beginning is on disk.
    private func resume(afterReaching limit: WritableKeyPath<Settings, Duration>) async throws {
        try await withGrowingTime(from: .milliseconds(500)) { time in
            try await resume(after: nil, Self.settings { $0[keyPath: limit] = time }, expecting: "timeout")
        }
    }

    private static func settings(_ change: (inout Settings) -> Void = { _ in }) throws -> Settings {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
        settings.fetch.idleTimeout = .seconds(60)
        settings.fetch.totalTimeout = .seconds(120)
        change(&settings)
        return settings
    }

    @Test("a download is resumed after its connection ended", arguments: [RawOrigin.Step.close, .reset])
    func connection(end: RawOrigin.Step) async throws {
        let isResumed = try await resume(after: end, Self.settings(), expecting: "connection-closed")
        #expect(isResumed)
    }

    @Test("a download is resumed after its server fell silent")
    func silence() async throws {
        try await resume(afterReaching: \.fetch.idleTimeout)
    }

    @Test("a download is resumed after it took too long")
    func slowness() async throws {
        try await resume(afterReaching: \.fetch.totalTimeout)
    }

    @Test("a download is resumed after it was cancelled")
    func cancellation() async throws {
        let isResumed = try await resume(after: nil, Self.settings(), isCancelled: true, expecting: "cancelled")
        #expect(isResumed)
    }
}
