// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan
import Testing

@testable import SyncAgent

@Suite("Metrics of the status")
struct StatusMetricsTests {
    private static let states: [(line: String, change: @Sendable (inout StatusReport) -> Void)] = [
        ("syncagent_paused 1", { $0.state = .paused }),
        ("syncagent_in_sync 1", { $0.inSync = true }),
        ("syncagent_shortage 1", { $0.downloads.reason = "full" }),
        ("syncagent_publication_failing 1", { $0.publication.error = "full" }),
        ("syncagent_watch_polling 1", { $0.watch.mode = "polling" }),
        ("syncagent_watch_overflows_total 3", { $0.watch.overflows = 3 }),
        ("syncagent_eviction_state{state=\"suspended\"} 1", { $0.eviction = .suspended("not mounted") }),
        ("syncagent_eviction_state{state=\"held\"} 1", { $0.eviction = .held("most images") }),
        ("syncagent_lists{state=\"last-good\"} 1", { $0.lists = [.init(name: "a", state: .lastGood)] }),
        ("syncagent_problem_lists 1", { $0.lists = [.init(name: "a", state: .lastGood)] }),
        ("syncagent_icons{state=\"pending\"} 5", { $0.icons.pending = 5 }),
        ("syncagent_stale_icons 2", { $0.icons.stale = 2 }),
        ("syncagent_previous_images 3", { $0.icons.previous = 3 }),
        ("syncagent_retired_icons 2", { $0.icons.retired = 2 }),
        ("syncagent_download_queue{state=\"blocked\"} 4", { $0.downloads.blocked = 4 }),
        ("syncagent_cache_bytes 7", { $0.cache.bytes = 7 }),
        ("syncagent_generation 9", { $0.generation = 9 }),
        (
            "syncagent_last_publication_timestamp_seconds 1763692798",
            { $0.published = "2025-11-21T02:39:58Z" }
        ),
    ]

    private static func text(_ change: (inout StatusReport) -> Void = { _ in }) -> String {
        var report = StatusReport(state: .running)
        change(&report)
        return "\n" + MetricsText.write(report.metrics)
    }

    @Test("each state of the status has its value in the metrics", arguments: states)
    func value(line: String, change: @Sendable (inout StatusReport) -> Void) {
        #expect(Self.text(change).contains("\n\(line)\n"))
        #expect(!Self.text().contains("\n\(line)\n"))
    }

    @Test("the metric of the present state is 1, and those of the others are 0")
    func exclusive() {
        let lines = Self.text { $0.eviction = .held("most images") }.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("syncagent_eviction_state{") && $0.hasSuffix(" 1") }.count == 1)
        #expect(lines.filter { $0.hasPrefix("syncagent_eviction_state{") && $0.hasSuffix(" 0") }.count == 2)
    }

    @Test("before the first publication there is neither a generation nor its time")
    func unpublished() {
        #expect(!Self.text().contains("syncagent_generation") && !Self.text().contains("syncagent_last_"))
    }
}
