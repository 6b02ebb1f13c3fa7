// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Large bodies", .timeLimit(.minutes(15)), .serialized)
struct LargeBodyTests {
    @Test("memory of the agent does not grow with the number of bodies that come at once")
    func memory() async throws {
        let few = try await peakMemory(downloading: 6)
        let many = try await peakMemory(downloading: 20)
        // Connections take some, bodies do not: 14 more of them would be 70 MiB.
        #expect(many - few < 40 << 20, "\(few >> 20) MiB for 6 bodies, \(many >> 20) MiB for 20")
    }

    /// The most memory that an agent had resident while that many bodies of 5 MiB came, and ended, all at once.
    private func peakMemory(downloading count: Int) async throws -> Int {
        let image = IconDrawing("Large", paddedTo: 5 << 20).png()
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(image.count)\r\n\r\n".utf8)
        let sent = (0..<count).map { _ in Gate() }
        let end = Gate()
        let peak = Mutex(0)
        try await RawOrigin.run { request in
            guard let number = Int(request.target.dropFirst()), sent.indices.contains(number) else { return [.close] }
            return [.send(head + image.dropLast()), .open(sent[number]), .wait(end), .send(Array(image.suffix(1)))]
        } _: { origin in
            try await World.with { world in
                let world = world.setting("SYNCAGENT_FETCH_CONCURRENCY", "128")
                    .setting("SYNCAGENT_FETCH_PER_HOST", "\(count)").setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "5m")
                    .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "5m")
                try await world.agent.whileRunning { agent in
                    let urls = (0..<count).map { "\(origin.baseURL)/\($0)" }
                    try world.agent.drop(propertyList(urls.map { ("App", $0) }), as: "apps.plist")
                    for gate in sent { try await gate.wait() }
                    end.open()
                    try await world.agent.status { $0.inSync && $0.icons.ready == count }
                    let status = try FileBytes.read(FilePath("/proc/\(agent.value)/status"))
                    let line = try #require(
                        String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM") })
                    let kibibytes = try #require(Int(line.filter(\.isNumber)))
                    peak.withLock { $0 = kibibytes << 10 }
                }
            }
        }
        return peak.withLock(\.self)
    }
}
