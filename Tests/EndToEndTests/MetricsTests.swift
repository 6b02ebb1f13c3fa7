// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Metrics of a running agent", .serialized, .timeLimit(.minutes(10)))
struct MetricsTests {
    @Test("metrics count what happened, and are those of the article, the alerts and the dashboard")
    func scrape() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try world.agent.drop(propertyList([("None", "http://127.0.0.1:1/none.png")]), as: "failing.plist")
            try world.agent.drop("nonsense", as: "bad.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.icons.ready == 2 && $0.icons.failed == 1 && $0.lists.count == 3 }
                let scrape = try await world.scrape {
                    $0["syncagent_generation"] ?? 0 > 0 && $0["syncagent_icons{state=\"failed\"}"] == 1
                }
                Self.expectCounts(scrape)
                Self.expectReadings(scrape)
                for word in ["127.0.0.1", "apps.plist", "Mail"] { #expect(!scrape.text.contains(word), "\(word)") }
                try Self.expectArticle(scrape)
                try await Self.expectLints(scrape)
                try Self.expectUses(scrape, in: "syncagent.rules.yml")
                try await Self.expectDashboard(scrape)
            }
        }
    }

    /// Expects the counts of two downloaded icons, a failed one and a rejected list.
    private static func expectCounts(_ scrape: Scrape) {
        for (series, value) in [
            "syncagent_up": 1, "syncagent_build_info{version=\"\(Version.current)\"}": 1,
            "syncagent_downloads_total{outcome=\"downloaded\",origin=\"allowed\"}": 2,
            "syncagent_downloads_total{outcome=\"downloaded\",origin=\"public\"}": 0,
            "syncagent_download_responses_total{version=\"1.1\"}": 2,
            "syncagent_download_duration_seconds_count{outcome=\"downloaded\"}": 2,
            "syncagent_icons{state=\"ready\"}": 2, "syncagent_lists{state=\"rejected\"}": 1,
            "syncagent_lists{state=\"ok\"}": 2, "syncagent_cache_images": 2,
            "syncagent_publication_failing": 0, "syncagent_paused": 0, "syncagent_shortage": 0,
            "syncagent_configuration_ok": 1, "syncagent_eviction_state{state=\"active\"}": 1,
        ] as [String: Double] {
            #expect(scrape[series] == value, "\(series)")
        }
        // A list that was just written is parsed again once it has not changed for a moment.
        #expect(scrape["syncagent_list_reads_total{verdict=\"rejected\"}"] ?? 0 >= 1)
        #expect(scrape["syncagent_list_reads_total{verdict=\"accepted\"}"] ?? 0 >= 2)
        #expect(scrape["syncagent_download_failures_total{code=\"connect\"}"] ?? 0 >= 1)
        #expect(scrape["syncagent_received_bytes_total"] == scrape["syncagent_cache_bytes"])
        let published = scrape["syncagent_publications_total{outcome=\"published\"}"] ?? 0
        #expect(published >= 1 && scrape["syncagent_publication_duration_seconds_count"] == published)
        #expect(scrape["syncagent_flush_duration_seconds_count"] ?? 0 >= 2 * published)
    }

    /// Expects times of these minutes, and what the process and the disk have.
    private static func expectReadings(_ scrape: Scrape) {
        let now = Double(time(nil))
        for series in [
            "syncagent_collected_timestamp_seconds", "syncagent_last_publication_timestamp_seconds",
            "syncagent_last_scan_timestamp_seconds", "process_start_time_seconds",
        ] {
            #expect((now - 600...now + 1).contains(scrape[series] ?? 0), "\(series)")
        }
        #expect((5e6...1e9).contains(scrape["process_resident_memory_bytes"] ?? 0))
        #expect((5...500).contains(scrape["process_open_fds"] ?? 0))
        #expect(scrape["syncagent_disk_free_bytes"] ?? 0 < scrape["syncagent_disk_size_bytes"] ?? 0)
    }

    /// What there is nothing to tell of without upstreams.
    private static let ofUpstreams: Set = [
        "syncagent_upstream_generation", "syncagent_upstream_published_timestamp_seconds", "syncagent_upstream_state",
    ]

    /// Expects the article to have each metric with its type, labels and meaning.
    private static func expectArticle(_ scrape: Scrape) throws {
        let (types, helps, labels) = (scrape.comments("TYPE"), scrape.comments("HELP"), scrape.labels)
        var names: Set<String> = []
        for line in try Article("Metrics", of: "SyncAgent").text.split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
            guard cells.count == 4, let name = cells[0].wholeMatch(of: /`([a-z_]+)`/)?.1 else { continue }
            let metric = String(name)
            #expect(names.insert(metric).inserted, "\(metric) is there twice")
            guard !ofUpstreams.contains(metric) else { continue }
            #expect(types[metric] == cells[1] && helps[metric] == cells[3], "\(metric)")
            var documented: [String: Set<String>] = [:]
            for match in cells[2].matches(of: /`([a-z]+)`(?: \(([^)]*)\))?/) {
                let values = (match.2 ?? "").split(separator: ",").map { $0.trimmingPrefix(" ") }.map(String.init)
                documented[String(match.1)] = Set(values)
            }
            #expect(Set(documented.keys) == Set((labels[metric] ?? [:]).keys), "labels of \(metric)")
            for (label, values) in documented where !values.isEmpty {
                #expect(labels[metric]?[label] == values, "\(label) of \(metric)")
            }
        }
        let all = ofUpstreams.union(types.keys)
        #expect(names == all, "\(names.symmetricDifference(all))")
    }

    /// Expects prometheus_client and promtool to find no fault, where they are installed.
    private static func expectLints(_ scrape: Scrape) async throws {
        let lint = try await Program.run(
            "python3", "\(Article.project)/Packaging/prometheus/lint.py", reading: scrape.text)
        if lint.code == 2 {
            print("skipped: prometheus_client is not installed")
        } else {
            #expect(lint.code == 0 && lint.output.hasSuffix("samples\n"), "\(lint.messages)")
        }
        let check = try await Program.run("\(Article.project)/Packaging/prometheus/check", "-", reading: scrape.text)
        #expect(check.code == 0, "\(check.output)\(check.messages)")
        if check.output.contains("skipped") { print(check.output) }
    }

    /// Expects each metric that a file of `Packaging/prometheus` uses to exist.
    ///
    /// - Returns: The text of the file.
    @discardableResult
    private static func expectUses(_ scrape: Scrape, in file: String) throws -> String {
        let text = try String(contentsOfFile: "\(Article.project)/Packaging/prometheus/\(file)", encoding: .utf8)
        let types = scrape.comments("TYPE")
        let used = Set(text.matches(of: /\b((syncagent|process)(_[a-z]+)+)\b/).map { String($0.1) })
        #expect(used.count > 8, "\(file)")
        for metric in used {
            // A textfile has those of the process under the agent's prefix.
            var name = metric.replacing(/^syncagent_process/, with: "process")
            if types[name] == nil { name = name.replacing(/_(bucket|sum|count)$/, with: "") }
            #expect(types[name] != nil || ofUpstreams.contains(name), "\(metric) in \(file)")
        }
        return text
    }

    /// Expects the dashboard to be JSON that uses all metrics but three.
    private static func expectDashboard(_ scrape: Scrape) async throws {
        let text = try expectUses(scrape, in: "syncagent-dashboard.json")
        let check = try await Program.run("python3", "-m", "json.tool", reading: text)
        #expect(check.code == 0, "\(check.messages)")
        let unused = Set(scrape.comments("TYPE").keys).filter { !text.contains($0) }
        let others: Set = [
            "syncagent_last_scan_timestamp_seconds", "syncagent_publication_pending", "process_virtual_memory_bytes",
        ]
        #expect(unused == others, "\(unused)")
    }

    @Test("the textfile and the listener have the metrics; a textfile that cannot be written is reported once")
    func outputs() async throws {
        try await World.with { world in
            let (log, folder) = (world.folder.appending("log"), world.folder.appending("textfile"))
            let file = folder.appending("syncagent.prom")
            var logging = try world.after("exec 2>>'\(log)'").setting("SYNCAGENT_METRICS_TEXTFILE", file.string)
                .setting("SYNCAGENT_METRICS_LISTEN", "127.0.0.1:0").setting("SYNCAGENT_CACHE_MODE", "0750")
            logging.agent.runOptions = ["--allow-network", "127.0.0.0/8", "--log-level", "info"]
            @Sendable func text(_ path: FilePath) throws -> String {
                try String(contentsOfFile: path.string, encoding: .utf8)
            }
            @Sendable func read() -> Scrape? { (try? text(file)).map(Scrape.init) }
            @Sendable func complaints() throws -> [Substring] {
                try text(log).split(separator: "\n").filter { $0.contains("cannot write metrics.textfile") }
            }
            try await logging.agent.whileRunning { [logging] _ in
                try await waitUntil { try !complaints().isEmpty }
                try makeFolder(folder)
                try logging.drop(["Mail"])
                try await logging.published(["Mail"])
                var port: Int?
                try await waitUntil {
                    let line = try text(log).firstMatch(of: /listening.* address=127.0.0.1:([0-9]+) for=metrics/)
                    port = line.flatMap { Int($0.1) }
                    return port != nil
                }
                let answer = try await LocalConnection.open(to: .port(try #require(port))) { connection in
                    _ = try await connection.ask(.GET, "/metrics")
                    return String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self)
                }
                #expect(Scrape(text: answer)["syncagent_up"] == 1)
                // Changes are written every 15 seconds at most.
                try await waitUntil(atMost: .seconds(180)) { read()?["syncagent_icons{state=\"ready\"}"] == 1 }
                let scrape = try #require(read())
                #expect(scrape["syncagent_up"] == 1 && scrape["syncagent_process_open_fds"] ?? 0 > 0)
                // node_exporter has these of its own.
                #expect(!scrape.text.contains("\nprocess_"))
                var entry = stat()
                try #require(stat(file.string, &entry) == 0)
                #expect(entry.st_mode & 0o777 == 0o644)
            }
            let end = try #require(read())
            #expect(end["syncagent_up"] == 0 && end.series.count == 3)
            #expect(try files(in: folder) == ["syncagent.prom"])
            let told = try complaints()
            #expect(told.count == 1 && told[0].contains("No such file or directory"), "\(told)")
        }
    }
}
