// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Synchronization

/// A backend of swift-metrics that keeps counters and histograms until Prometheus requests them.
///
/// Every series exists from the start with the value 0. None is added later: an undeclared name or label value is not
/// recorded. Recording costs an atomic addition or an uncontended lock; there is no background work.
final class MetricsRegistry: MetricsFactory, Sendable {
    private enum Cell: Sendable {
        case counter(CounterCell)
        case gauge(GaugeCell)
        case histogram(HistogramCell)

        var value: MetricReading.Value {
            switch self {
            case .counter(let cell): .number(cell.value)
            case .gauge(let cell): .number(cell.value)
            case .histogram(let cell): cell.value
            }
        }
    }

    private struct Key: Hashable {
        var name: String
        var labels: [String]
    }

    private let families: [MetricFamily]
    private let cells: [Key: Cell]

    init(_ families: [MetricFamily]) {
        self.families = families
        var cells: [Key: Cell] = [:]
        for family in families {
            for labels in family.labelSets {
                cells[Key(name: family.name, labels: labels)] =
                    switch family.kind {
                    case .counter: .counter(CounterCell())
                    case .gauge: .gauge(GaugeCell())
                    case .histogram(let bounds): .histogram(HistogramCell(bounds: bounds))
                    }
            }
        }
        self.cells = cells
    }

    /// The current values, in the order of declaration.
    func read() -> [MetricReading] {
        families.map { family in
            MetricReading(
                family,
                family.labelSets.compactMap { labels in
                    cells[Key(name: family.name, labels: labels)].map { .init(labels: labels, value: $0.value) }
                })
        }
    }

    private func cell(_ name: String, _ dimensions: [(String, String)]) -> Cell? {
        guard let family = families.first(where: { $0.name == name }), dimensions.count == family.labels.count else {
            return nil
        }
        let labels = family.labels.compactMap { label in dimensions.first { $0.0 == label.name }?.1 }
        return cells[Key(name: name, labels: labels)]
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard case .counter(let cell)? = cell(label, dimensions) else { return NOOPMetricsHandler.instance }
        return cell
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        guard case .gauge(let cell)? = cell(label, dimensions) else { return NOOPMetricsHandler.instance }
        return cell
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        switch cell(label, dimensions) {
        case .gauge(let cell)? where !aggregate: cell
        case .histogram(let cell)? where aggregate: cell
        default: NOOPMetricsHandler.instance
        }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard case .histogram(let cell)? = cell(label, dimensions) else { return NOOPMetricsHandler.instance }
        return cell
    }

    // An exposed series stays: a counter that vanishes and comes back looks like a restart.

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

private final class CounterCell: CounterHandler, Sendable {
    private let count = Atomic<Int64>(0)

    var value: Double { Double(count.load(ordering: .relaxed)) }

    /// Adds to the count; ignores a negative amount, because a counter only grows.
    func increment(by amount: Int64) {
        if amount > 0 { count.wrappingAdd(amount, ordering: .relaxed) }
    }

    func reset() { count.store(0, ordering: .relaxed) }
}

private final class GaugeCell: MeterHandler, RecorderHandler, Sendable {
    private let number = Mutex<Double>(0)

    var value: Double { number.withLock(\.self) }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.withLock { $0 = value } }
    func increment(by amount: Double) { number.withLock { $0 += amount } }
    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}

private final class HistogramCell: TimerHandler, RecorderHandler, Sendable {
    private struct State {
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    var value: MetricReading.Value { state.withLock { .distribution(counts: $0.counts, sum: $0.sum) } }

    /// Records a duration in seconds; a negative one, as after a clock step, counts as 0.
    func recordNanoseconds(_ duration: Int64) { record(Double(max(0, duration)) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    /// Records a value; ignores one that is not finite, because it would ruin the sum for good.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.sum += value
        }
    }
}
