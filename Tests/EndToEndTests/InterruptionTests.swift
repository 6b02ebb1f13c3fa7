// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import HTTPRules
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Agents that end in the middle of a download", .serialized)
struct InterruptionTests {
    private static let icon = IconDrawing("Large", paddedTo: 4_000_000).png()

    /// Ends an agent in the middle of a download, starts it again, and lets it do all that there is to do.
    ///
    /// - Parameters:
    ///   - signal: What ends the agent.
    ///   - meanwhile: What happens before the second start; gets `staging/` as well.
    /// - Returns: How many bytes of the icon the first agent left, and the range that each request asked for.
    /// - Throws: What goes wrong.
    private func interrupt(
        by signal: Signal, meanwhile: @escaping @Sendable (World, FilePath) throws -> Void = { _, _ in }
    ) async throws -> (left: Int, ranges: [String]) {
        let never = Gate()
        let left = Mutex(0)
        let ranges = Mutex<[String]>([])
        try await RawOrigin.run { request in
            ranges.withLock { $0.append(request.values(of: "Range").first ?? "all") }
            let reply = request.rangeReply(Self.icon, entityTag: "\"1\"")
            return request.number == 1 ? [.send(Array(reply.prefix(3 << 20))), .wait(never)] : [.send(reply)]
        } _: { origin in
            try await World.with { world in
                let world = world.setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "5m")
                    .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "5m")
                let url = origin.baseURL + "/icon.png"
                try world.agent.drop(propertyList([("App", url)]), as: "apps.plist")
                let staging = world.agent.cache.appending("staging")
                let part = staging.appending(PartialDownload.file(of: IconURL(url)))
                try await world.agent.whileRunning(endedBy: signal) { _ in
                    // The end of what was sent is held in memory, because it is too small to be written.
                    try await waitUntil { (try? FileBytes.read(part).count) ?? 0 >= 2 << 20 }
                }
                let bytes = try FileBytes.read(part)
                #expect(bytes.elementsEqual(Self.icon.prefix(bytes.count)))
                left.withLock { $0 = bytes.count }
                try meanwhile(world, staging)
                try await world.agent.whileRunning { _ in
                    try await world.agent.status { $0.inSync && $0.lists.first?.ready == 1 }
                }
                try world.expectWholeCache()
                #expect(try files(in: staging).isEmpty)
            }
        }
        return (left.withLock(\.self), ranges.withLock(\.self))
    }

    @Test("the next agent asks for the rest", arguments: [Signal.kill, .terminate])
    func resume(signal: Signal) async throws {
        let (left, ranges) = try await interrupt(by: signal)
        #expect(ranges == ["all", "bytes=\(left)-"])
    }

    @Test("after another start of the machine it asks for the whole")
    func reboot() async throws {
        let (_, ranges) = try await interrupt(by: .kill) { _, staging in
            let name = try #require(try files(in: staging).first { $0.hasSuffix(".json") })
            let record = String(decoding: try FileBytes.read(staging.appending(name)), as: UTF8.self)
            let earlier = record.replacing("\"boot\": \"", with: "\"boot\": \"0")
            try write(earlier, to: staging.appending(name))
        }
        #expect(ranges == ["all", "all"])
    }

    @Test("a URL that no list names any more leaves nothing behind")
    func dropped() async throws {
        let (_, ranges) = try await interrupt(by: .kill) { world, _ in try world.drop(["Mail"]) }
        #expect(ranges == ["all"])
    }
}
