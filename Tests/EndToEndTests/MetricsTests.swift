// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import DemoOrigin
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

@Suite("Metrics of a running agent", .serialized)
struct MetricsTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(Article.project)/\(path)", encoding: .utf8)
    }

    /// Runs the body with a scrape of an agent that has two icons, one that failed, and a list that is rejected.
    private static func withScrape(_ body: @escaping @Sendable (Scrape) async throws -> Void) async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try world.agent.drop(propertyList([("None", "http://127.0.0.1:1/none.png")]), as: "failing.plist")
            try world.agent.drop("nonsense", as: "bad.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.icons.ready == 2 && $0.icons.failed == 1 && $0.lists.count == 3 }
                let scrape = try await world.scrape {
                    $0["syncagent_generation"] ?? 0 > 0 && $0["syncagent_icons{state=\"failed\"}"] == 1
                }
                try await body(scrape)
            }
        }
    }

    @Test("they count what happened, and tell what is")
    func values() async throws {
        try await Self.withScrape { scrape in
            for (series, value) in [
                "syncagent_up": 1, "syncagent_build_info{version=\"\(Version.current)\"}": 1,
                "syncagent_downloads_total{outcome=\"downloaded\",origin=\"allowed\"}": 2,
                "syncagent_downloads_total{outcome=\"downloaded\",origin=\"public\"}": 0,
                "syncagent_download_responses_total{version=\"1.1\"}": 2,
                "syncagent_download_duration_seconds_count{outcome=\"downloaded\"}": 2,
                "syncagent_icons{state=\"ready\"}": 2, "syncagent_lists{state=\"rejected\"}": 1,
                "syncagent_lists{state=\"ok\"}": 2, "syncagent_list_reads_total{verdict=\"rejected\"}": 1,
                "syncagent_list_reads_total{verdict=\"accepted\"}": 2, "syncagent_cache_images": 2,
                "syncagent_publication_failing": 0, "syncagent_paused": 0, "syncagent_shortage": 0,
                "syncagent_configuration_ok": 1, "syncagent_eviction_state{state=\"active\"}": 1,
            ] as [String: Double] {
                #expect(scrape[series] == value, "\(series)")
            }
            #expect(scrape["syncagent_download_failures_total{code=\"connect\"}"] ?? 0 >= 1)
            #expect(scrape["syncagent_received_bytes_total"] == scrape["syncagent_cache_bytes"])
            let published = scrape["syncagent_publications_total{outcome=\"published\"}"] ?? 0
            #expect(published >= 1 && scrape["syncagent_publication_duration_seconds_count"] == published)
            #expect(scrape["syncagent_flush_duration_seconds_count"] ?? 0 >= 2 * published)
            let now = Double(time(nil))
            for series in [
                "syncagent_collected_timestamp_seconds", "syncagent_last_publication_timestamp_seconds",
                "syncagent_last_scan_timestamp_seconds", "process_start_time_seconds",
            ] {
                #expect((now - 60...now + 1).contains(scrape[series] ?? 0), "\(series)")
            }
            #expect((5e6...1e9).contains(scrape["process_resident_memory_bytes"] ?? 0))
            #expect((5...500).contains(scrape["process_open_fds"] ?? 0))
            #expect(scrape["syncagent_disk_free_bytes"] ?? 0 < scrape["syncagent_disk_size_bytes"] ?? 0)
        }
    }

    /// What there is nothing to tell of without upstreams.
    private static let ofUpstreams: Set = [
        "syncagent_upstream_generation", "syncagent_upstream_published_timestamp_seconds", "syncagent_upstream_state",
    ]

    @Test("no URL, host or list is a label, and the article has each metric with its type, labels and meaning")
    func article() async throws {
        try await Self.withScrape { scrape in
            for word in ["127.0.0.1", "apps.plist", "Mail"] { #expect(!scrape.text.contains(word)) }
            let (types, helps, labels) = (scrape.comments("TYPE"), scrape.comments("HELP"), scrape.labels)
            var names: Set<String> = []
            for line in try Article("Metrics", of: "SyncAgent").text.split(separator: "\n") {
                let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
                guard cells.count == 4, let name = cells[0].wholeMatch(of: /`([a-z_]+)`/)?.1 else { continue }
                let metric = String(name)
                #expect(names.insert(metric).inserted, "\(metric) is there twice")
                guard !Self.ofUpstreams.contains(metric) else { continue }
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
            let all = Self.ofUpstreams.union(types.keys)
            #expect(names == all, "\(names.symmetricDifference(all))")
        }
    }

    @Test("prometheus_client and promtool find nothing to complain of")
    func lints() async throws {
        try await Self.withScrape { scrape in
            let lint = try await Program.run(
                "python3", "\(Article.project)/Packaging/prometheus/lint.py", reading: scrape.text)
            if lint.code == 2 {
                print("skipped: prometheus_client is not installed")
            } else {
                #expect(lint.code == 0 && lint.output.hasSuffix("samples\n"), "\(lint.messages)")
            }
            let check = try await Program.run(
                "\(Article.project)/Packaging/prometheus/check", "-", reading: scrape.text)
            #expect(check.code == 0, "\(check.output)\(check.messages)")
            if check.output.contains("skipped") { print(check.output) }
        }
    }

    @Test("every metric that alerts and dashboard use exists", arguments: ["rules.yml", "dashboard.json"])
    func usedMetrics(file: String) async throws {
        let name = file == "rules.yml" ? "syncagent.rules.yml" : "syncagent-dashboard.json"
        let text = try Self.text("Packaging/prometheus/\(name)")
        if file == "dashboard.json" {
            let check = try await Program.run("python3", "-m", "json.tool", reading: text)
            #expect(check.code == 0)
        }
        try await Self.withScrape { scrape in
            let types = scrape.comments("TYPE")
            let used = Set(text.matches(of: /\b((syncagent|process)(_[a-z]+)+)\b/).map { String($0.1) })
            #expect(used.count > 8)
            for metric in used {
                // A textfile has those of the process under the agent's prefix.
                var name = metric.replacing(/^syncagent_process/, with: "process")
                if types[name] == nil { name = name.replacing(/_(bucket|sum|count)$/, with: "") }
                #expect(types[name] != nil || Self.ofUpstreams.contains(name), "\(metric)")
            }
            if file == "dashboard.json" {
                let unused = Set(types.keys).filter { !text.contains($0) }
                #expect(
                    unused == ["syncagent_last_scan_timestamp_seconds", "process_virtual_memory_bytes"], "\(unused)")
            }
        }
    }

    @Test("a textfile is there soon, is replaced, and says at the end that the agent was stopped")
    func textfile() async throws {
        try await World.with { world in
            let file = world.folder.appending("syncagent.prom")
            let agent = world.setting("SYNCAGENT_METRICS_TEXTFILE", file.string)
                .setting("SYNCAGENT_CACHE_MODE", "0750").agent
            @Sendable func read() -> Scrape? {
                (try? String(contentsOfFile: file.string, encoding: .utf8)).map(Scrape.init)
            }
            try await agent.whileRunning { _ in
                try await waitUntil { read() != nil }
                let scrape = try #require(read())
                #expect(scrape["syncagent_up"] == 1 && scrape["syncagent_process_open_fds"] ?? 0 > 0)
                // node_exporter has these of its own.
                #expect(!scrape.text.contains("\nprocess_"))
                var entry = stat()
                try #require(stat(file.string, &entry) == 0)
                #expect(entry.st_mode & 0o777 == 0o644)
                try world.drop(["Mail"])
                try await waitUntil { read()?["syncagent_icons{state=\"ready\"}"] == 1 }
            }
            let end = try #require(read())
            #expect(end["syncagent_up"] == 0 && end.series.count == 3)
            #expect(try files(in: world.folder).filter { $0.contains(".prom") } == ["syncagent.prom"])
        }
    }

    @Test("a textfile that cannot be written is told once, and the agent goes on")
    func unwritableTextfile() async throws {
        try await World.with { world in
            let log = world.folder.appending("log")
            var logging = try world.after("exec 2>>'\(log)'")
                .setting("SYNCAGENT_METRICS_TEXTFILE", "\(world.folder)/none/syncagent.prom")
            logging.agent.runOptions = ["--allow-network", "127.0.0.0/8", "--log-level", "info"]
            try await logging.agent.whileRunning { [logging] _ in
                try logging.drop(["Mail"])
                try await logging.published(["Mail"])
            }
            let lines = try String(contentsOfFile: log.string, encoding: .utf8).split(separator: "\n")
            let told = lines.filter { $0.contains("cannot write metrics.textfile") }
            #expect(told.count == 1 && told[0].contains("No such file or directory"), "\(lines)")
        }
    }

    @Test("the listener answers at the address of metrics.listen")
    func listener() async throws {
        try await World.with { world in
            let log = world.folder.appending("log")
            var logging = try world.after("exec 2>>'\(log)'").setting("SYNCAGENT_METRICS_LISTEN", "127.0.0.1:0")
            logging.agent.runOptions = ["--log-level", "info"]
            try await logging.agent.whileRunning { _ in
                var port: Int?
                try await waitUntil {
                    let text = try String(contentsOfFile: log.string, encoding: .utf8)
                    let line = text.firstMatch(of: /listening.* address=127.0.0.1:([0-9]+) for=metrics/)
                    port = line.flatMap { Int($0.1) }
                    return port != nil
                }
                let text = try await LocalConnection.open(to: .port(try #require(port))) { connection in
                    _ = try await connection.ask(.GET, "/metrics")
                    return String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self)
                }
                #expect(Scrape(text: text)["syncagent_up"] == 1)
            }
        }
    }
}
