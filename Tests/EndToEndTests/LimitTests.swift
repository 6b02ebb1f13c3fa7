// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Limits of the process", .serialized)
struct LimitTests {
    @Test(
        "too low a limit ends the agent at once, with what to do",
        arguments: [
            ("ulimit -n 16", "LimitNOFILE"), ("ulimit -n 24", "LimitNOFILE"), ("ulimit -n 32", "LimitNOFILE"),
            ("ulimit -v 400000", "ulimit -v"),
        ].filter { !isSanitized || $0.1 == "LimitNOFILE" })
    func tooLow(command: String, remedy: String) async throws {
        try await World.with { plain in
            let world = try plain.after("exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-\n" + command)
            try world.drop(["Mail"])
            let end = try await world.agent.call("run", "--once")
            #expect(end.code == 78 && end.messages.contains(remedy), "\(end)")
            #expect(!end.messages.contains("apps.plist") && world.origin.requestCount == 0)
        }
    }

    @Test("with few descriptors the agent does less at once, and no icon and no list fails", arguments: [64, 80, 128])
    func few(limit: Int) async throws {
        try await World.with { plain in
            let world = try plain.after("ulimit -n \(limit)")
            let icon = IconDrawing("Mail").png()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"
            try await RawOrigin.run(host: "0.0.0.0") { _ in
                [.send(head), .send(icon)]
            } _: { origin in
                let urls = (1...200).map { "http://127.0.1.\($0):\(origin.port)/icon.png" }
                try world.agent.drop(propertyList(urls.map { ("App", $0) }), as: "apps.plist")
                try await world.agent.whileRunning { _ in
                    let report = try await world.agent.status { $0.inSync && $0.lists.first?.pending == 0 }
                    #expect(report.icons.failed == 0 && report.icons.ready == 200, "\(report.json.line)")
                    #expect(report.lists.map(\.state) == ["ok"] && report.publication.error == nil)
                }
                #expect(try world.expectWholeCache() == 200)
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

    @Test(
        "descriptors that run out under a running agent are its trouble, and no verdict on a list or an icon",
        arguments: 0...6)
    func exhausted(free: Int) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { process in
                try await world.published(["Mail"])
                let before = try await limit(process)
                var hasDropped = false
                try await world.agent.follow { report in
                    if !hasDropped {
                        hasDropped = true
                        // New descriptors get the lowest numbers.
                        let highest =
                            try files(in: FilePath("/proc/\(process.value)/fd")).compactMap { Int($0) }.max() ?? 0
                        try await limit(process, to: "\(highest + 1 + free)")
                        try world.drop(["Maps"], as: "other.plist")
                    }
                    try #require(report.lists.allSatisfy { $0.state == "ok" } && report.icons.failed == 0)
                    let reasons = [report.watch.reason, report.eviction.reason, report.downloads.reason]
                    let isKnown = reasons.compactMap(\.self).contains {
                        $0.contains("EMFILE") || $0.contains("Too many open files")
                    }
                    return isKnown || report.eviction.state == "suspended" || report.icons.ready == 2
                }
                try await limit(process, to: before)
                try await world.published(["Maps"], as: "other.plist")
                let healed = try await world.agent.status { $0.inSync && $0.watch.isEstablished }
                #expect(healed.eviction.state == "active" && healed.downloads.reason == nil)
            }
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("an address that a setting refused is asked at once by an agent that allows it")
    func allowed() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            var refusing = world.agent
            refusing.runOptions = ["--log-level", "error"]
            try await refusing.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 1 }
            }
            #expect(world.origin.requestCount == 0)
            try await world.agent.whileRunning { _ in try await world.published(["Mail"]) }
        }
    }
}
