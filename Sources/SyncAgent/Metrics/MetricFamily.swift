// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The declaration of a metric: its name, its type, and all its labels.
///
/// Label values are declared too, so the number of series is fixed and small, whatever lists and servers send.
struct MetricFamily: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case counter
        case gauge
        /// A distribution over fixed buckets; their upper bounds are in ascending order, in the unit of the metric.
        case histogram(bounds: [Double])
    }

    struct Label: Equatable, Sendable {
        var name: String
        var values: [String]
    }

    /// The full name, with unit and `_total`: `syncagent_received_bytes_total`.
    let name: String
    let kind: Kind
    let help: String
    let labels: [Label]
    /// Whether the value changes even if nothing happens, like a clock.
    var isVolatile = false

    static func counter(_ name: String, _ help: String, _ labels: Label..., isVolatile: Bool = false) -> MetricFamily {
        MetricFamily(name: name, kind: .counter, help: help, labels: labels, isVolatile: isVolatile)
    }

    static func gauge(_ name: String, _ help: String, _ labels: Label..., isVolatile: Bool = false) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, labels: labels, isVolatile: isVolatile)
    }

    static func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: Label...) -> MetricFamily {
        MetricFamily(name: name, kind: .histogram(bounds: bounds), help: help, labels: labels)
    }

    var labelSets: [[String]] {
        labels.reduce([[]]) { sets, label in sets.flatMap { set in label.values.map { set + [$0] } } }
    }
}

extension MetricFamily.Label {
    init<Value: CaseIterable & RawRepresentable<String>>(_ name: String, _ type: Value.Type) {
        self.init(name: name, values: type.allCases.map(\.rawValue))
    }
}

struct MetricReading: Equatable, Sendable {
    enum Value: Equatable, Sendable {
        case number(Double)
        /// The count of values in each bucket, not cumulative; the last bucket has the values above all bounds.
        case distribution(counts: [Int], sum: Double)
    }

    struct Series: Equatable, Sendable {
        /// The values of the labels, in the order of the family's labels.
        var labels: [String]
        var value: Value
    }

    let family: MetricFamily
    var series: [Series]

    init(_ family: MetricFamily, _ series: [Series]) {
        (self.family, self.series) = (family, series)
    }
}

/// Readings of values that the agent keeps for other reasons, declared where they are read. A missing value has no
/// series.
extension MetricReading {
    static func gauge(
        _ name: String, _ help: String, _ value: (some MetricValue)?, isVolatile: Bool = false
    ) -> MetricReading {
        MetricReading(.gauge(name, help, isVolatile: isVolatile), value)
    }

    static func counter(
        _ name: String, _ help: String, _ value: (some MetricValue)?, isVolatile: Bool = false
    ) -> MetricReading {
        MetricReading(.counter(name, help, isVolatile: isVolatile), value)
    }

    private init(_ family: MetricFamily, _ value: (some MetricValue)?) {
        self.init(family, value.map { [Series(labels: [], value: .number($0.number))] } ?? [])
    }

    /// A gauge for each value of a label.
    static func gauge(
        _ name: String, _ help: String, by label: String, _ values: KeyValuePairs<String, some MetricValue>
    ) -> MetricReading {
        MetricReading(
            .gauge(name, help, MetricFamily.Label(name: label, values: values.map(\.key))),
            values.map { Series(labels: [$0], value: .number($1.number)) })
    }
}

protocol MetricValue {
    var number: Double { get }
}

extension Double: MetricValue {
    var number: Double { self }
}

extension Int: MetricValue {
    var number: Double { Double(self) }
}

extension Bool: MetricValue {
    var number: Double { self ? 1 : 0 }
}

/// A time as seconds since 1970.
extension Timestamp: MetricValue {
    var number: Double {
        // Dividing two durations is inexact: 1763692797.9999998.
        let (seconds, attoseconds) = sinceEpoch.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
