import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

// SPDX-License-Identifier: Apache-2.0

@Suite("Status reports")
struct StatusReportTests {
    @Test("the JSON document has the contract's keys, in the contract's order")
    func keys() throws {
        var report = StatusReport(state: .running)
        report.lists = [StatusReport.List(name: "apps.plist", state: .ok)]
        let text = report.json.line
        var keys: [String] = []
        for part in text.split(separator: "\": ").dropLast() {
            keys.append(String(part[part.index(after: try #require(part.lastIndex(of: "\"")))...]))
        }
        let contract = [
            "format", "state", "pid", "version", "generation", "published", "inSync",
            "lists", "name", "state", "apps", "ready", "pending", "failed", "error",
            "icons", "referenced", "ready", "pending", "failed", "stale", "retired",
            "downloads", "active", "queued", "waiting", "cache", "bytes", "images",
            "eviction", "state", "reason", "watch", "mode", "overflows", "lastScan",
        ]
        var rest = keys[...]
        for key in contract {
            let index = try #require(rest.firstIndex(of: key), "“\(key)” is not where the contract has it")
            rest = rest[rest.index(after: index)...]
        }
        let added = [
            "reachable", "lastRepair", "problems", "blocked", "reason", "reason", "leases", "publication", "error",
            "storage",
            "error", "damaged", "events", "configuration", "error", "listeners", "code", "code", "origins", "failures",
            "verdict",
            "level", "sentence", "command", "problems", "refreshFailures", "awaitingUpstream", "upstreams",
            "unlisted", "failedUpstream", "needRestart", "previous", "previous", "previousSince",
            "previousExample", "previousList", "kept", "pauses", "renditions", "muted", "muted",
        ]
        #expect(keys.count == contract.count + added.count, "the contract has no more keys than these")
    }

    @Test("an agent that only refreshes an icon is not in sync, and has nothing to publish")
    func refresh() throws {
        var agent = AgentScenario()
        let icon: IconURL = "https://h/a"
        try agent.publish(["a.plist": [icon: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[icon] != nil && agent.plan.isPublished && !agent.plan.status.inSync)
        try agent.finish(icon, with: "y")
        #expect(!agent.plan.isPublished)
        try agent.finishJobs()
        #expect(agent.plan.isPublished && agent.plan.status.inSync)
    }

    @Test("a status report without an agent is empty")
    func empty() {
        #expect(
            StatusReport(state: .stopped).json.line.hasPrefix(
                "{ \"format\": 1, \"state\": \"stopped\", \"pid\": null, \"reachable\": false, \"version\": \"\(Version.current)\", "
                    + "\"generation\": null, \"published\": null, \"inSync\": false, \"lists\": [], "))
    }

    @Test("the message of a failure names the proxy from which no answer came")
    func proxy() throws {
        var agent = AgentScenario()
        let icons: [IconURL] = ["https://h/a", "https://h/b"]
        try agent.scan(["a.plist": icons])
        for (url, status) in zip(icons, [nil, 404]) {
            let trail = FetchTrail([.init(url: url.text, status: status, allowedBy: nil, proxy: "p.example:1")])
            let failure = status.map { FetchFailure.status($0) } ?? FetchFailure(.connect, "cannot connect", .passing)
            try agent.finish(url, .failed(failure), trail: trail)
        }
        let messages = agent.plan.status.failures.map(\.message)
        #expect(messages == ["cannot connect, through the proxy p.example:1", "the server answered 404"])
    }

    @Test("lists are sorted by name, and counted by entry; icons are counted once")
    func counts() throws {
        var agent = AgentScenario()
        let (a, b, c): (IconURL, IconURL, IconURL) = ("https://h/a", "https://h/b", "https://h/c")
        try agent.scan(["b.plist": [a, b, a], "a.plist": [a, c]])
        try agent.finish(a, with: "x")
        try agent.finish(b, .failed(.status(404)))
        let report = agent.plan.status
        #expect(report.lists.map(\.name) == ["a.plist", "b.plist"])
        #expect(report.lists.map { [$0.apps, $0.ready, $0.pending, $0.failed] } == [[2, 0, 2, 0], [3, 0, 2, 1]])
        let icons = report.icons
        // The first one's image waits to be published.
        #expect([icons.referenced, icons.ready, icons.pending, icons.failed] == [3, 0, 2, 1])
        #expect(report.downloads.active == 1 && report.downloads.waiting == 1 && !report.inSync)
        try agent.finish(c, with: "y")
        try agent.finishPublication()
        #expect(agent.plan.status.cache.images == 2 && agent.plan.status.inSync)
        #expect(agent.plan.status.needsAttention)
    }

    @Test("hasFailures counts all that a sync could not do, but no held, suspended or unknown eviction")
    func failures() {
        func hasFailures(_ change: (inout StatusReport) -> Void) -> Bool {
            var report = StatusReport(state: .running)
            change(&report)
            return report.hasFailures
        }
        for eviction in [StatusReport.Eviction.active, .unknown, .held("most images"), .suspended("not mounted")] {
            #expect(!hasFailures { $0.eviction = eviction })
        }
        #expect(hasFailures { $0.icons.failed = 1 })
        #expect(hasFailures { $0.downloads.reason = "full" })
        #expect(hasFailures { $0.lists = [StatusReport.List(name: "a", state: .lastGood)] })
        #expect(hasFailures { $0.publication.error = "full" })
    }

    @Test(
        "every list that is not accepted is named while somebody waits for it, and only one that is not there is missing"
    )
    func rejections() throws {
        var agent = AgentScenario()
        try agent.publish(["a.plist": ["https://h/a": "x"]])
        try agent.scan([:], rejected: ["a.plist": .emptyFile, "b.plist": .noKnownShape])
        let all = agent.plan.syncReport(of: [])
        #expect(all.rejected.map(\.list) == ["a.plist", "b.plist"] && all.isDone && !all.isWhole && all.error == nil)
        #expect(all.lists == 2 && all.publishedLists == 2)
        #expect(all.rejected.map(\.message) == [ListRejection.emptyFile.message, ListRejection.noKnownShape.message])
        let one = agent.plan.syncReport(of: ["b.plist", "b.plist", "c\nd.plist"])
        #expect(one.rejected.map(\.list) == ["b.plist"] && one.missing == ["c\nd.plist"])
        #expect(agent.plan.hasGoodVersion(of: "a.plist") && !agent.plan.hasGoodVersion(of: "b.plist"))
    }

    @Test("failed icons, bad lists, a full disk, suspended evictions and failed publications need attention")
    func attention() {
        func needsAttention(_ change: (inout StatusReport) -> Void) -> Bool {
            var report = StatusReport(state: .running)
            change(&report)
            return report.needsAttention
        }
        #expect(!needsAttention { _ in })
        #expect(!needsAttention { $0.icons.stale = 1 })
        #expect(!needsAttention { $0.lists = [StatusReport.List(name: "a", state: .ok)] })
        #expect(needsAttention { $0.icons.failed = 1 })
        #expect(!needsAttention { $0.downloads.waiting = 1 })
        #expect(needsAttention { $0.downloads.blocked = 1 })
        #expect(needsAttention { $0.downloads.reason = "full" })
        #expect(needsAttention { $0.lists = [StatusReport.List(name: "a", state: .lastGood)] })
        #expect(needsAttention { $0.lists = [StatusReport.List(name: "a", state: .rejected)] })
        #expect(needsAttention { $0.eviction = .suspended("not mounted") })
        #expect(needsAttention { $0.publication.error = "full" })
        #expect(needsAttention { $0.eviction = .held("one change retired most images") })
        #expect(!needsAttention { $0.eviction = .unknown })
        #expect(needsAttention { $0.state = .unknown })
    }
}
