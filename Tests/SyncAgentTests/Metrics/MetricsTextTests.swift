// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgent

@Suite("The text of metrics")
struct MetricsTextTests {
    @Test(
        "numbers are written so that they are read as the same",
        arguments: [
            (0, "0"), (1, "1"), (-3, "-3"), (0.25, "0.25"), (1_795_000_000, "1795000000"), (1e-9, "1e-09"),
            (1.7e300, "1.7e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)])
    func numbers(number: Double, text: String) throws {
        #expect(MetricsText.format(number) == text)
        if number.isFinite { #expect(Double(text) == number) }
    }

    @Test("help escapes backslashes and newlines; the values of labels quotes too")
    func escapes() {
        let text = "a \"quoted\" \\ line\nand é"
        #expect(MetricsText.escaped(text) == "a \"quoted\" \\\\ line\\nand é")
        #expect(MetricsText.escaped(text, quotes: true) == "a \\\"quoted\\\" \\\\ line\\nand é")
    }

    @Test("each metric has its help and its type, and a metric without a value is left out")
    func families() {
        let counter = MetricFamily.counter("x_total", "Things.", .init(name: "kind", values: ["a", "b"]))
        let text = MetricsText.write([
            MetricReading(
                counter, [.init(labels: ["a"], value: .number(1)), .init(labels: ["b"], value: .number(0.5))]),
            .gauge("y_bytes", "Size.", 7), .gauge("z_bytes", "Size.", Int?.none),
        ])
        #expect(
            text == """
                # HELP x_total Things.
                # TYPE x_total counter
                x_total{kind="a"} 1
                x_total{kind="b"} 0.5
                # HELP y_bytes Size.
                # TYPE y_bytes gauge
                y_bytes 7

                """)
    }

    @Test("the buckets of a histogram are cumulative, and the last one has all")
    func histogram() {
        let family = MetricFamily.histogram("z_seconds", "Time.", bounds: [0.1, 1], .init(name: "k", values: ["a"]))
        let reading = MetricReading(family, [.init(labels: ["a"], value: .distribution(counts: [2, 1, 3], sum: 9.5))])
        #expect(
            MetricsText.write([reading]) == """
                # HELP z_seconds Time.
                # TYPE z_seconds histogram
                z_seconds_bucket{k="a",le="0.1"} 2
                z_seconds_bucket{k="a",le="1"} 3
                z_seconds_bucket{k="a",le="+Inf"} 6
                z_seconds_sum{k="a"} 9.5
                z_seconds_count{k="a"} 6

                """)
    }
}
