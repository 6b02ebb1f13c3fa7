// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@Suite("The limit on the bytes a second")
struct RateLimitTests {
    private static let start = ContinuousClock.now

    @Test(
        "the rate limit holds on average, however large the parts are",
        arguments: [
            (1024, 16_384), (100_000, 100), (100_000, 16_384), (1_048_576, 16_384), (1_073_741_824, 1_048_576),
        ])
    func average(rate: Int, part: Int) {
        var limit = RateLimit(ByteCount(rate), at: Self.start)
        var (now, bytes) = (Self.start, 0)
        let end = Self.start + .seconds(100)
        while now < end {
            if limit.isOpen(at: now) {
                limit.spend(part)
                bytes += part
            } else {
                let opening = limit.opening
                #expect(opening > now)
                now = opening
            }
        }
        // Beside what is saved up at the start, and the last part.
        let due = Double(rate) * 100
        #expect(abs(Double(bytes) - due) <= Double(rate) * 0.1 + Double(part) + 1)
    }

    @Test("the rate limit saves up a tenth of a second at most, and nothing while the clock stands still")
    func burst() {
        var limit = RateLimit(ByteCount(1000), at: Self.start)
        var bytes = 0
        while limit.isOpen(at: Self.start + .seconds(3600)) {
            limit.spend(10)
            bytes += 10
        }
        #expect(bytes == 100)
        let opening = limit.opening
        #expect(opening > Self.start + .seconds(3600) && opening < Self.start + .seconds(3601))
        let times = [Self.start, opening - .milliseconds(1), opening]
        #expect(times.map { limit.isOpen(at: $0) } == [false, false, true])
    }
}
