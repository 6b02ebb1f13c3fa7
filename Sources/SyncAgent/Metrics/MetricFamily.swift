// SPDX-License-Identifier: Apache-2.0

/// A metric as it is declared: its name, its type, and every label that it can have.
///
/// The values of labels are declared too. So the number of series is known and small, whatever lists and servers send.
struct MetricFamily: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case counter
        case gauge
        /// A distribution over fixed buckets, with their upper bounds in ascending order, in the unit of the metric.
        case histogram(bounds: [Double])
    }

    struct Label: Equatable, Sendable {
        var name: String
        /// All values that it can have.
        var values: [String]
    }

    /// The whole name, with unit and `_total`: `syncagent_received_bytes_total`.
    let name: String
    let kind: Kind
    /// What it measures, in one sentence.
    let help: String
    let labels: [Label]
    /// Whether it changes although nothing happened, as a clock does.
    let isVolatile: Bool

    private init(_ name: String, _ kind: Kind, _ help: String, _ labels: [Label], isVolatile: Bool = false) {
        (self.name, self.kind, self.help, self.labels) = (name, kind, help, labels)
        self.isVolatile = isVolatile
    }

    /// A number that only grows.
    static func counter(_ name: String, _ help: String, _ labels: Label..., isVolatile: Bool = false) -> MetricFamily {
        MetricFamily(name, .counter, help, labels, isVolatile: isVolatile)
    }

    /// A number that is read when metrics are.
    static func gauge(_ name: String, _ help: String, _ labels: Label..., isVolatile: Bool = false) -> MetricFamily {
        MetricFamily(name, .gauge, help, labels, isVolatile: isVolatile)
    }

    /// A distribution of durations.
    static func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: Label...) -> MetricFamily {
        MetricFamily(name, .histogram(bounds: bounds), help, labels)
    }

    /// Every set of label values that it can have.
    var labelSets: [[String]] {
        labels.reduce([[]]) { sets, label in sets.flatMap { set in label.values.map { set + [$0] } } }
    }
}

extension MetricFamily.Label {
    /// A label that has the values of a type.
    init<Value: CaseIterable & RawRepresentable<String>>(_ name: String, _ type: Value.Type) {
        self.init(name: name, values: type.allCases.map(\.rawValue))
    }
}

/// A metric with its values at one moment.
struct MetricReading: Equatable, Sendable {
    enum Value: Equatable, Sendable {
        case number(Double)
        /// How many values were at most as large as each bound, and more than the one before; the last ones were larger
        /// than all bounds.
        case distribution(counts: [Int], sum: Double)
    }

    struct Series: Equatable, Sendable {
        /// The values of the labels, in the order of the family.
        var labels: [String]
        var value: Value
    }

    let family: MetricFamily
    var series: [Series]

    init(_ family: MetricFamily, _ series: [Series]) {
        (self.family, self.series) = (family, series)
    }

    /// A metric without labels.
    init(_ family: MetricFamily, _ value: Double) {
        self.init(family, [Series(labels: [], value: .number(value))])
    }

    /// A metric with one label.
    init(_ family: MetricFamily, _ values: KeyValuePairs<String, Double>) {
        self.init(family, values.map { Series(labels: [$0], value: .number($1)) })
    }
}
