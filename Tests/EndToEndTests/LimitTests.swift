// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Limits of the agent's process", .timeLimit(.minutes(15)), .serialized)
struct LimitTests {
    @Test("an agent with too low limits does not start, and says what to do; with few descriptors nothing fails")
    func low() async throws {
        try await World.with { plain in
            try plain.drop(["Mail"])
            // Root may start any number of threads.
            let user = geteuid() == 0 ? "setpriv --reuid=61234 --regid=61234 --clear-groups" : ""
            var cases = [
                ("ulimit -n 16", "", "LimitNOFILE", 78), ("ulimit -n 24", "", "LimitNOFILE", 78),
                ("ulimit -n 32", "", "LimitNOFILE", 78), ("ulimit -v 400000", "", "ulimit -v", 78),
            ]
            // That can pass: a service is started again.
            if Tool.areInstalled("setpriv", "prlimit") {
                cases += [1, 6].map { ("", "prlimit --nproc=\($0) \(user)", "TasksMax", 1) }
            }
            for (command, wrapper, remedy, code) in cases where !isSanitized || remedy == "LimitNOFILE" {
                let world = try plain.after("exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-\n" + command, in: wrapper)
                let end = try await world.agent.call("run", "--once")
                #expect(end.code == code && end.messages.contains(remedy), "\(command)\(wrapper): \(end)")
                #expect(!end.messages.contains("apps.plist"), "\(command)\(wrapper): \(end.messages)")
            }
            #expect(plain.origin.requestCount == 0)

            let world = try plain.after("ulimit -n 64")
            let icon = IconDrawing("Mail").png()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"
            try await RawOrigin.run(host: "0.0.0.0") { _ in
                [.send(head), .send(icon)]
            } _: { origin in
                // More hosts than descriptors: no connection can be kept.
                let urls = (1...100).map { "http://127.0.1.\($0):\(origin.port)/icon.png" }
                try world.agent.drop(propertyList(urls.map { ("App", $0) }), as: "apps.plist")
                try await world.agent.whileRunning { _ in
                    let report = try await world.agent.status { $0.inSync && $0.lists.first?.pending == 0 }
                    #expect(report.icons.failed == 0 && report.icons.ready == 100, "\(report.json.line)")
                    #expect(report.lists.map(\.state) == ["ok"] && report.publication.error == nil)
                }
                #expect(try world.expectWholeCache() == 100)
            }
        }
    }

    /// The most files that a process may have open, and before that another limit.
    @discardableResult
    private func limit(_ process: ProcessIdentifier, to limit: String? = nil) async throws -> String {
        let options = ["prlimit", "--pid", "\(process.value)"]
        if let limit { try #require(try await Program.run(options + ["--nofile=\(limit):"]).code == 0) }
        let end = try await Program.run(options + ["--nofile", "--output", "SOFT", "--noheadings"])
        return String(end.output.filter { !$0.isWhitespace })
    }

    @Test("descriptors that run out while the agent runs fail no list and no icon, and it recovers")
    func exhausted() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { process in
                try await world.published(["Mail"])
                // Each number has the agent fail at another place.
                for free in 0...6 {
                    try await expectRecovery(world, process, free: free)
                }
            }
            #expect(world.origin.requestCount == 8)
        }
    }

    /// Leaves the agent some descriptors while a list comes, and expects nothing to be blamed on that list.
    private func expectRecovery(_ world: World, _ process: ProcessIdentifier, free: Int) async throws {
        let before = try await limit(process)
        let list = ListName("list-\(free).plist")
        var hasDropped = false
        try await world.agent.follow { report in
            if !hasDropped {
                hasDropped = true
                // New descriptors get the lowest numbers.
                let highest = try files(in: FilePath("/proc/\(process.value)/fd")).compactMap { Int($0) }.max() ?? 0
                try await limit(process, to: "\(highest + 1 + free)")
                try world.drop(["App \(free)"], as: list.text)
            }
            try #require(report.lists.allSatisfy { $0.state == "ok" } && report.icons.failed == 0)
            let reasons = [report.watch.reason, report.eviction.reason, report.downloads.reason]
            let isKnown = reasons.compactMap(\.self).contains {
                $0.contains("EMFILE") || $0.contains("Too many open files")
            }
            return isKnown || report.eviction.state == "suspended" || report.icons.ready == free + 2
        }
        try await limit(process, to: before)
        try await world.published(["App \(free)"], as: list)
        let healed = try await world.agent.status { $0.inSync && $0.watch.isEstablished }
        #expect(healed.eviction.state == "active" && healed.downloads.reason == nil)
    }
}
