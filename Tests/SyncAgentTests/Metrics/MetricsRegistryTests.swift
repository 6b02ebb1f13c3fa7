// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgent

@Suite("The registry of metrics")
struct MetricsRegistryTests {
    private static let counter = MetricFamily.counter("c_total", "Count.", .init(name: "kind", values: ["a", "b"]))
    private static let time = MetricFamily.histogram("t_seconds", "Time.", bounds: [0.1, 1])

    private let registry = MetricsRegistry([counter, time])

    private func value(_ name: String, _ labels: [String] = []) -> MetricReading.Value? {
        registry.read().first { $0.family.name == name }?.series.first { $0.labels == labels }?.value
    }

    @Test("the registry of metrics has all declared series from the start, and no others")
    func declared() {
        let before = registry.read()
        #expect(before.map(\.series.count) == [2, 1])
        registry.increment(Self.counter, "c")
        registry.increment(Self.counter, "a", "b")
        registry.increment(Self.counter)
        registry.increment(Self.time)
        registry.increment(.counter("other_total", "Count."))
        registry.record(.seconds(1), in: Self.counter, "a")
        registry.record(.seconds(1), in: .histogram("c_total", "Count.", bounds: [1]), "a")
        #expect(registry.read() == before)
    }

    @Test("a counter counts from many tasks, and never down")
    func counting() async {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { registry.increment(Self.counter, "a") } }
            }
        }
        registry.increment(Self.counter, "a", by: -5)
        #expect(value("c_total", ["a"]) == .number(8000) && value("c_total", ["b"]) == .number(0))
    }

    @Test(
        "a duration counts in the first bucket that it is not above",
        arguments: [
            (0, [1, 0, 0]), (100_000_000, [1, 0, 0]), (100_000_001, [0, 1, 0]), (2_000_000_000, [0, 0, 1]),
            (-1, [1, 0, 0]),
        ] as [(Int64, [Int])])
    func buckets(nanoseconds: Int64, counts: [Int]) {
        registry.record(.nanoseconds(nanoseconds), in: Self.time)
        #expect(value("t_seconds") == .distribution(counts: counts, sum: Double(max(0, nanoseconds)) / 1e9))
    }
}
