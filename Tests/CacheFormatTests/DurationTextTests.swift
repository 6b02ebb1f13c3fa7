// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("Durations as settings write them")
struct DurationTextTests {
    @Test(
        "a duration is read from a whole number with its unit",
        arguments: [
            ("0s", .zero), ("0ms", .zero), ("100ms", .milliseconds(100)), ("2s", .seconds(2)), ("10m", .seconds(600)),
            ("24h", .seconds(86_400)), ("7d", .seconds(604_800)), ("10 m", .seconds(600)), ("036h", .seconds(129_600)),
            ("36525d", .seconds(3_155_760_000)), ("3155760000000ms", .seconds(3_155_760_000)),
        ] as [(String, Duration)])
    func read(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "text that is no whole number with a unit is not a duration",
        arguments: [
            "", "s", "5", "5 ", "-1s", "+1s", "1.5s", " 5s", "5s ", "5S", "5min", "5us", "5ns", "1h30m", "1w", "5\ts",
            "36526d", "876601h", "3155760000001ms", "9223372036854775807d", "99999999999999999999s", "٥s", "5\u{301}s",
        ])
    func refuse(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "a duration is shown in the largest unit that divides it",
        arguments: [
            (.zero, "0s"), (.milliseconds(1), "1ms"), (.milliseconds(1500), "1500ms"), (.seconds(1), "1s"),
            (.seconds(90), "90s"), (.seconds(600), "10m"), (.seconds(5400), "90m"), (.seconds(7200), "2h"),
            (.seconds(86_400), "1d"), (.seconds(90_000), "25h"), (.microseconds(1999), "1ms"), (.nanoseconds(1), "0s"),
        ] as [(Duration, String)])
    func show(duration: Duration, text: String) {
        #expect(DurationText.format(duration) == text)
    }

    @Test(
        "a duration is read back from its text",
        arguments: [1, 999, 1000, 59_999, 60_000, 3_600_000, 86_400_000, 86_400_001])
    func roundTrip(milliseconds: Int) {
        let duration = Duration.milliseconds(milliseconds)
        #expect(DurationText.parse(DurationText.format(duration)) == duration)
    }
}
