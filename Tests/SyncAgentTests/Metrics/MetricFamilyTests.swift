// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Reports
import Testing

@testable import SyncAgent

@Suite("The metrics of the agent")
struct MetricFamilyTests {
    private static let all: [MetricFamily] = {
        let outside = MetricReading.space(nil, reserve: Settings().cache.minFree) + ProcessUsage.read()
        let others = MetricReading.failedIcons([:], now: .distantPast) + [.collected, .publicationPending(false)]
        return (AgentMetrics().read() + StatusReport(state: .running).metrics + outside + others).map(\.family)
    }()

    @Test("names follow the conventions of Prometheus", arguments: all)
    func names(family: MetricFamily) {
        let name = family.name
        #expect(name.contains(/^(syncagent|process)(_[a-z0-9]+)+$/))
        #expect(name.hasSuffix("_total") == (family.kind == .counter))
        #expect(!name.contains(/_(ms|milliseconds|minutes|hours|kb|kilobytes|mebibytes|percent)(_|$)/))
        #expect(!name.contains(/_(bucket|count|sum|info_total)$/))
        if case .histogram(let bounds) = family.kind {
            #expect(name.hasSuffix("_seconds") && bounds == bounds.sorted() && Set(bounds).count == bounds.count)
        }
        #expect(family.help.hasSuffix("."))
        for label in family.labels {
            #expect(label.name.contains(/^[a-z]+$/) && !["job", "instance", "le", "quantile"].contains(label.name))
            #expect(Set(label.values).count == label.values.count && !label.values.isEmpty)
        }
    }

    @Test("no name is used twice, and an agent has few series whatever lists name")
    func bounds() {
        let names = Self.all.map(\.name)
        #expect(Set(names).count == names.count)
        let series = Self.all.map { family in
            if case .histogram(let bounds) = family.kind {
                family.labelSets.count * (bounds.count + 3)
            } else {
                family.labelSets.count
            }
        }
        #expect(series.reduce(0, +) <= 400, "\(series.reduce(0, +)) series")
    }
}
