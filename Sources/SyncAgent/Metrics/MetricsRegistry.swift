// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps counters and histograms until Prometheus requests them.
///
/// Every series exists from the start with the value 0. None is added later: a value with an undeclared name or label
/// is not recorded. There is no background work.
final class MetricsRegistry: Sendable {
    private let families: [MetricFamily]
    /// The index of each family's first value, and the family's labels, by the family's name.
    private let places: [String: (first: Int, labels: [MetricFamily.Label])]
    /// The values, in the order of the families and of their sets of labels.
    private let values: Mutex<[MetricReading.Value]>

    init(_ families: [MetricFamily]) {
        self.families = families
        var values: [MetricReading.Value] = []
        places = Dictionary(
            uniqueKeysWithValues: families.map { family in
                defer { values += family.labelSets.map { _ in MetricReading.Value(zeroOf: family.kind) } }
                return (family.name, (first: values.count, labels: family.labels))
            })
        self.values = Mutex(values)
    }

    /// Up to three values of labels, in the order of declaration, without an array for each count.
    private typealias Labels = (String?, String?, String?)

    /// The index of a value; `nil` if it is not declared.
    private func place(_ family: MetricFamily, _ labels: Labels) -> Int? {
        guard let (first, declared) = places[family.name] else { return nil }
        var rest = labels
        var place = 0
        for label in declared {
            guard let value = rest.0, let index = label.values.firstIndex(of: value) else { return nil }
            place = place * label.values.count + index
            rest = (rest.1, rest.2, nil)
        }
        return rest.0 == nil ? first + place : nil
    }

    /// The current values, in the order of declaration.
    func read() -> [MetricReading] {
        let values = values.withLock(\.self)
        return families.map { family in
            MetricReading(
                family,
                zip(family.labelSets, values[(places[family.name]?.first ?? 0)...]).map { .init(labels: $0, value: $1) }
            )
        }
    }

    /// Adds to a counter; ignores a negative amount, because a counter only grows.
    func increment(
        _ family: MetricFamily, _ first: String? = nil, _ second: String? = nil, _ third: String? = nil,
        by amount: Int = 1
    ) {
        guard amount > 0, let place = place(family, (first, second, third)) else { return }
        values.withLock { values in
            guard case .number(let number) = values[place] else { return }
            values[place] = .number(number + Double(amount))
        }
    }

    /// Adds a duration in seconds to a histogram; a negative one, as after a clock step, counts as 0.
    func record(_ time: Duration, in family: MetricFamily, _ label: String? = nil) {
        guard case .histogram(let bounds) = family.kind, let place = place(family, (label, nil, nil)) else { return }
        let (whole, attoseconds) = max(time, .zero).components
        let nanoseconds = whole * 1_000_000_000 + attoseconds / 1_000_000_000
        let seconds = Double(nanoseconds) / 1e9
        values.withLock { values in
            guard case .distribution(var counts, let sum) = values[place] else { return }
            // Moved out, so that the counts are changed in place and not copied.
            values[place] = .number(0)
            counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
            values[place] = .distribution(counts: counts, sum: sum + seconds)
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
