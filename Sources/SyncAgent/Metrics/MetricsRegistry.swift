// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps counters and histograms until Prometheus requests them.
///
/// Every series exists from the start with the value 0. None is added later: an undeclared name or label value is not
/// recorded. There is no background work.
final class MetricsRegistry: Sendable {
    private struct Key: Hashable {
        var name: String
        var labels: [String]
    }

    private let families: [MetricFamily]
    private let values: Mutex<[Key: MetricReading.Value]>

    init(_ families: [MetricFamily]) {
        self.families = families
        let values = families.flatMap { family in
            family.labelSets.map { (Key(name: family.name, labels: $0), MetricReading.Value(zeroOf: family.kind)) }
        }
        self.values = Mutex(Dictionary(uniqueKeysWithValues: values))
    }

    /// The current values, in the order of declaration.
    func read() -> [MetricReading] {
        let values = values.withLock(\.self)
        return families.map { family in
            MetricReading(
                family,
                family.labelSets.compactMap { labels in
                    values[Key(name: family.name, labels: labels)].map { .init(labels: labels, value: $0) }
                })
        }
    }

    /// Adds to a counter; ignores a negative amount, because a counter only grows.
    func increment(_ family: MetricFamily, _ labels: String..., by amount: Int = 1) {
        guard amount > 0 else { return }
        let key = Key(name: family.name, labels: labels)
        values.withLock { values in
            guard case .number(let number) = values[key] else { return }
            values[key] = .number(number + Double(amount))
        }
    }

    /// Adds a duration in seconds to a histogram; a negative one, as after a clock step, counts as 0.
    func record(_ time: Duration, in family: MetricFamily, _ labels: String...) {
        guard case .histogram(let bounds) = family.kind else { return }
        let (whole, attoseconds) = max(time, .zero).components
        let nanoseconds = whole * 1_000_000_000 + attoseconds / 1_000_000_000
        let seconds = Double(nanoseconds) / 1e9
        let key = Key(name: family.name, labels: labels)
        values.withLock { values in
            guard case .distribution(var counts, let sum) = values[key] else { return }
            counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
            values[key] = .distribution(counts: counts, sum: sum + seconds)
        }
    }
}

extension MetricReading.Value {
    fileprivate init(zeroOf kind: MetricFamily.Kind) {
        switch kind {
        case .counter, .gauge: self = .number(0)
        case .histogram(let bounds): self = .distribution(counts: Array(repeating: 0, count: bounds.count + 1), sum: 0)
        }
    }
}
