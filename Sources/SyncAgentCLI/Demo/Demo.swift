// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import IconCache
import Reports
import SystemPackage

/// The demo: a list is added, changed and damaged, the origin is cut off, the agent is stopped.
///
/// Every step runs the built program, as a user would.
struct Demo: Sendable {
    private static let first = ["Mail", "Maps", "Music", "Notes", "Photos"]
    private static let second = ["Mail", "Maps", "Music", "Books", "Clock"]

    let origin: DemoOrigin
    let agent: AgentProcess

    func run() async throws {
        try Message.output(["A web server at \(origin.baseURL) draws icons; an agent watches \(agent.lists).", ""])
        try await agent.whileRunning { _ in
            try await step("A list of five apps is added") {
                try drop(Self.first)
                try await waitUntilReady(Self.first)
            }
            try Message.output(lines: "\n\(try await agent.call("status").output)\n")
            try await step("The list is changed: two apps removed, two added") {
                try drop(Self.second)
                try await waitUntilReady(Self.second)
                try expect(origin.requestCount == 7, "each icon was downloaded once")
            }
            try await step("The list is damaged: its last good version stays") {
                try agent.drop("<plist><array><dict>", as: "apps.plist")
                let status = try await agent.status { $0.lists.first?.state == .lastGood }
                try expect(status.icons.ready == 5, "all icons are ready")
            }
            try await step("The web server is cut off: every icon is still there") {
                await origin.cutOff()
                for name in Self.second { try await expectImage(of: name) }
            }
        }
        try await step("The agent is stopped: every icon is still there") {
            for name in Self.second { try await expectImage(of: name) }
            try expect(
                try await agent.call("status").code == 3, "syncagent status reports that the agent is not running")
        }
        let url = origin.iconURL("Mail")
        try Message.output(lines: "\n$ syncagent path \(url)\n\(try await agent.call("path", url).output)\n")
    }

    private func drop(_ names: [String]) throws {
        try agent.drop(propertyList(names.map { ($0, origin.iconURL($0)) }), as: "apps.plist")
    }

    /// Waits until the newest manifest has images for these icons.
    private func waitUntilReady(_ names: [String]) async throws {
        let urls = Set(names.map { IconURL(origin.iconURL($0)) })
        try await agent.status { [cache = agent.cache] report in
            guard report.inSync, report.icons.ready == urls.count,
                let document = try? IconCache(at: cache).document(of: "apps.plist")
            else { return false }
            return Set(document.apps.map(\.icon)) == urls
        }
    }

    /// Checks that `syncagent path` prints the image that the origin drew.
    private func expectImage(of name: String) async throws {
        let answer = try await agent.call("path", origin.iconURL(name))
        try expect(answer.code == 0, "syncagent path prints the path of \(name)")
        let bytes = try FileBytes.read(FilePath(String(answer.output.prefix { $0 != "\n" })))
        try expect(bytes == IconDrawing(name).png(), "the image of \(name) is the one that the web server drew")
    }

    private func step(_ title: String, _ work: () async throws -> Void) async throws {
        try Message.output(["• \(title) … "], terminator: "")
        let start = ContinuousClock.now
        try await work()
        try Message.output(["✓ \(DurationText.format(ContinuousClock.now - start))"])
    }

    private func expect(_ condition: Bool, _ what: String) throws {
        guard condition else { throw CommandFailure(description: "not true: \(what)") }
    }
}
