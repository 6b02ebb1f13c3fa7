// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Testing

@testable import SyncAgent

@Suite("The backend of swift-metrics")
struct MetricsRegistryTests {
    private static let counter = MetricFamily.counter("c_total", "Count.", .init(name: "kind", values: ["a", "b"]))
    private static let time = MetricFamily.histogram("t_seconds", "Time.", bounds: [0.1, 1])
    private static let size = MetricFamily.gauge("s_bytes", "Size.")

    private let registry = MetricsRegistry([counter, time, size])

    private func value(_ name: String, _ labels: [String] = []) -> MetricReading.Value? {
        registry.read().first { $0.family.name == name }?.series.first { $0.labels == labels }?.value
    }

    @Test("every declared series is there from the start, and no other one is added")
    func declared() {
        let before = registry.read()
        #expect(before.map(\.series.count) == [2, 1, 1])
        Counter(label: "c_total", dimensions: [("kind", "c")], factory: registry).increment()
        Counter(label: "c_total", dimensions: [("url", "a")], factory: registry).increment()
        Counter(label: "c_total", factory: registry).increment()
        Counter(label: "t_seconds", factory: registry).increment()
        Counter(label: "other_total", factory: registry).increment()
        Timer(label: "c_total", dimensions: [("kind", "a")], factory: registry).recordNanoseconds(1)
        #expect(registry.read() == before)
    }

    @Test("a counter counts from many tasks, and never down")
    func counting() async {
        let counter = Counter(label: "c_total", dimensions: [("kind", "a")], factory: registry)
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.increment() } } }
        }
        counter.increment(by: -5)
        #expect(value("c_total", ["a"]) == .number(8000) && value("c_total", ["b"]) == .number(0))
    }

    @Test(
        "a duration counts in the first bucket that it is not above",
        arguments: [
            (0, [1, 0, 0]), (100_000_000, [1, 0, 0]), (100_000_001, [0, 1, 0]), (2_000_000_000, [0, 0, 1]),
            (-1, [1, 0, 0]),
        ] as [(Int64, [Int])])
    func buckets(nanoseconds: Int64, counts: [Int]) {
        Timer(label: "t_seconds", factory: registry).recordNanoseconds(nanoseconds)
        #expect(value("t_seconds") == .distribution(counts: counts, sum: Double(max(0, nanoseconds)) / 1e9))
    }

    @Test("a recorder takes no value that is not a number")
    func notANumber() {
        let recorder = Recorder(label: "t_seconds", factory: registry)
        recorder.record(Double.nan)
        recorder.record(Double.infinity)
        recorder.record(0.5)
        #expect(value("t_seconds") == .distribution(counts: [0, 1, 0], sum: 0.5))
    }

    @Test("a meter and a gauge have the last value")
    func meters() {
        let meter = Meter(label: "s_bytes", factory: registry)
        meter.set(5)
        meter.increment(by: 2.5)
        #expect(value("s_bytes") == .number(7.5))
        Gauge(label: "s_bytes", factory: registry).record(3)
        #expect(value("s_bytes") == .number(3))
    }

    @Test("what was destroyed keeps its value: a counter that comes back at zero looks like a restart")
    func destroyed() {
        let counter = Counter(label: "c_total", dimensions: [("kind", "a")], factory: registry)
        counter.increment()
        counter.destroy()
        #expect(value("c_total", ["a"]) == .number(1))
    }
}
