// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// The alerts in `Packaging/prometheus`, on what a real agent exposes in each state.
@Suite("Alerts on a running agent", .serialized, .timeLimit(.minutes(10)))
struct AlertTests {
    private static let rules = "\(Article.project)/Packaging/prometheus/syncagent.rules.yml"

    /// Has promtool evaluate the rules on a scrape that stays as it is for seven hours.
    private static func expect(_ alerts: [String], on scrape: Scrape) async throws {
        guard Tool.areInstalled("promtool") else {
            print("skipped: promtool is not installed")
            return
        }
        try await withTemporaryFolder { folder in
            let rules = try String(contentsOfFile: rules, encoding: .utf8)
            let used = scrape.series.filter { rules.contains(String($0.name.prefix { $0 != "{" })) }
            #expect(!used.isEmpty)
            let series = used.map { "  - { series: '\($0.name)', values: '\($0.value)x420' }" }
            let samples = alerts.map { "{ labels: '{alertname=\"\($0)\"}', value: 1 }" }.joined(separator: ", ")
            let file = folder.appending("test.yml")
            try write(
                """
                rule_files: ['\(Self.rules)']
                evaluation_interval: 1m
                tests:
                - interval: 1m
                  input_series:
                \(series.joined(separator: "\n"))
                  promql_expr_test:
                  - expr: count by (alertname) (ALERTS{alertstate="firing"})
                    eval_time: 7h
                    exp_samples: [\(samples)]

                """, to: file)
            let check = try await Program.run("promtool", "test", "rules", file.string)
            #expect(check.code == 0, "\(check.output)\(check.messages)")
        }
    }

    /// What is dropped, the series that is 1 then, and the alert.
    private static let listTroubles: [(list: String, text: String, series: String, alert: String)] = [
        ("apps.plist", "nonsense", "syncagent_lists{state=\"last-good\"}", "SyncagentListRejected"),
        ("bad.plist", "nonsense", "syncagent_lists{state=\"rejected\"}", "SyncagentListRejected"),
        (
            "failing.plist", propertyList([("None", "http://127.0.0.1:1/none.png")]),
            "syncagent_icons{state=\"failed\"}", "SyncagentIconsFailing"
        ),
    ]

    @Test("each trouble of an agent fires its own alert, and no other; an agent that is well fires none")
    func troubles() async throws {
        try await World.with { world in
            let file = world.folder.appending("syncagent.prom")
            let agent = world.setting("SYNCAGENT_METRICS_TEXTFILE", file.string).agent
            @Sendable func textfile() throws -> Scrape {
                Scrape(text: try String(contentsOfFile: file.string, encoding: .utf8))
            }
            try world.drop(["Mail"])
            try await agent.whileRunning { _ in
                try await agent.status { $0.inSync && $0.icons.ready == 1 }
                let well = try await Scrape(of: world)
                #expect(well["syncagent_up"] == 1 && well["syncagent_in_sync"] == 1)
                #expect(well["syncagent_publication_pending"] == 0)
                try await Self.expect([], on: well)
                try await waitUntil { (try? textfile())?["syncagent_up"] == 1 }
                for (list, text, series, alert) in Self.listTroubles {
                    try agent.drop(text, as: list)
                    let scrape = try await world.scrape { $0[series] == 1 }
                    try await Self.expect([alert], on: scrape)
                    if list == "apps.plist" { try world.drop(["Mail"]) } else { try world.remove(list) }
                    try await world.scrape { $0[series] != 1 }
                }
                // Another file system in the place of the documents: no file can be moved there.
                try await SmallDisk.mounted("size=4k,nr_inodes=1", at: agent.cache.appending("lists")) {
                    // The same icon under another name: there is nothing to download.
                    try agent.drop(propertyList([("Post", world.origin.iconURL("Mail"))]), as: "apps.plist")
                    let scrape = try await world.scrape { $0["syncagent_publication_failing"] == 1 }
                    #expect(scrape["syncagent_publications_total{outcome=\"failed\"}"] ?? 0 >= 1)
                    #expect(scrape["syncagent_publication_pending"] == 1)
                    try await Self.expect(["SyncagentNotPublishing"], on: scrape)
                }
            }
            let stopped = try textfile()
            #expect(stopped["syncagent_up"] == 0)
            try await Self.expect(["SyncagentDown"], on: stopped)
        }
    }

    @Test("an agent without room for new images fires the alert of a full disk, and no other")
    func full() async throws {
        try await World.with { world in
            try makeFolder(world.agent.cache)
            try await SmallDisk.mounted("size=1m", at: world.agent.cache) {
                let world = world.setting("SYNCAGENT_CACHE_MIN_FREE", "5%")
                let apps = (0..<40).map { ("\($0)", world.origin.iconURL("icon-\($0)", bytes: 50_000)) }
                try world.agent.drop(propertyList(apps), as: "apps.plist")
                try await world.agent.whileRunning { _ in
                    let scrape = try await world.scrape {
                        $0["syncagent_shortage"] == 1 && $0["syncagent_publication_failing"] == 0
                            && $0["syncagent_download_queue{state=\"active\"}"] == 0
                    }
                    #expect(scrape["syncagent_download_queue{state=\"blocked\"}"] ?? 0 > 0)
                    try await Self.expect(["SyncagentDiskFull"], on: scrape)
                }
            }
        }
    }
}
