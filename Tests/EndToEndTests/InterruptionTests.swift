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

@Suite("Agents that end in the middle of a download", .timeLimit(.minutes(15)), .serialized)
struct InterruptionTests {
    private static let icon = IconDrawing("Large", paddedTo: 4_000_000).png()

    @Test(
        "an interrupted download asks for the rest, after a reboot for the whole, and leaves nothing if unlisted",
        arguments: [Signal.kill, .terminate])
    func resume(signal: Signal) async throws {
        let never = Gate()
        let ranges = Mutex<[String: [String]]>([:])
        try await RawOrigin.run { request in
            ranges.withLock { $0[request.target, default: []].append(request.values(of: "Range").first ?? "all") }
            let reply = request.rangeReply(Self.icon, entityTag: "\"1\"")
            return request.number == 1 ? [.send(Array(reply.prefix(3 << 20))), .wait(never)] : [.send(reply)]
        } _: { origin in
            try await World.with { world in
                let world = world.setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "5m")
                    .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "5m")
                let names = ["rest", "whole", "dropped"]
                let urls = names.map { "\(origin.baseURL)/\($0).png" }
                let parts = urls.map { PartialDownload.file(of: IconURL($0)) }
                let staging = world.agent.cache.appending("staging")
                try world.agent.drop(propertyList(zip(names, urls).map { ($0, $1) }), as: "apps.plist")
                try await world.agent.whileRunning(endedBy: signal) { _ in
                    // The end of what was sent is held in memory, because it is too small to be written.
                    try await waitUntil {
                        parts.allSatisfy { (try? FileBytes.read(staging.appending($0)).count) ?? 0 >= 2 << 20 }
                    }
                }
                let left = try FileBytes.read(staging.appending(parts[0]))
                #expect(left.elementsEqual(Self.icon.prefix(left.count)))

                let record = staging.appending(PartialDownload.record(ofFile: parts[1]))
                let text = String(decoding: try FileBytes.read(record), as: UTF8.self)
                try write(text.replacing("\"boot\": \"", with: "\"boot\": \"0"), to: record)
                try world.agent.drop(propertyList(zip(names, urls).prefix(2).map { ($0, $1) }), as: "apps.plist")
                try await world.agent.whileRunning { _ in
                    try await world.agent.status { $0.inSync && $0.lists.first?.ready == 2 }
                }
                #expect(try world.expectWholeCache() == 2)
                #expect(try files(in: staging).isEmpty)
                let wanted = ["/rest.png": ["all", "bytes=\(left.count)-"], "/whole.png": ["all", "all"]]
                // Until the new version of the list is read, the agent may request the third icon again.
                #expect(ranges.withLock { $0.filter { $0.key != "/dropped.png" } } == wanted)
            }
        }
    }
}
