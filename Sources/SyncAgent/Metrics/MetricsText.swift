// SPDX-License-Identifier: Apache-2.0

/// Writes metrics in the Prometheus text format, version 0.0.4.
package enum MetricsText {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Writes metrics with their help and type; `rename` maps their names; the text ends with a newline.
    static func write(_ readings: [MetricReading], rename: (String) -> String = { $0 }) -> String {
        var text = ""
        for reading in readings where !reading.series.isEmpty {
            let (family, name) = (reading.family, rename(reading.family.name))
            text += "# HELP \(name) \(escaped(family.help))\n# TYPE \(name) \(word(for: family.kind))\n"
            for series in reading.series {
                let labels = zip(family.labels, series.labels).map { ($0.name, $1) }
                switch (series.value, family.kind) {
                case (.number(let number), _): text += line(name, labels, number)
                case (.distribution(let counts, let sum), .histogram(let bounds)):
                    var total = 0
                    for (bound, count) in zip(bounds + [.infinity], counts) {
                        total += count
                        text += line("\(name)_bucket", labels + [("le", format(bound))], Double(total))
                    }
                    text += line("\(name)_sum", labels, sum) + line("\(name)_count", labels, Double(total))
                case (.distribution, _): preconditionFailure("only a histogram has a distribution")
                }
            }
        }
        return text
    }

    private static func line(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) -> String {
        let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
        return pairs.isEmpty ? "\(name) \(format(value))\n" : "\(name){\(pairs)} \(format(value))\n"
    }

    /// Escapes backslashes and newlines; with `quotes`, as in label values, also quotes.
    static func escaped(_ text: String, quotes: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Formats a number as the shortest text that reads back as the same number.
    static func format(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number > 0 ? "+Inf" : "-Inf" }
        // Below this limit, a `Double` represents every whole number.
        if number.magnitude < 9e15, number == number.rounded() { return String(Int(number)) }
        return "\(number)"
    }

    private static func word(for kind: MetricFamily.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}
