// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How many requests there were in each second.
struct Rates {
    private let start: Timestamp
    private var counts: [Int]

    init(from start: Timestamp, for duration: Duration) {
        self.start = start
        counts = Array(repeating: 0, count: Int(duration.components.seconds) + 1)
    }

    mutating func count(at time: Timestamp) {
        let second = Int((time - start).components.seconds)
        if time >= start, second < counts.count { counts[second] += 1 }
    }

    var total: Int { counts.reduce(0, +) }

    /// Requests a second.
    var mean: Double { Double(total) / Double(counts.count) }

    /// The most requests a second, over so many seconds.
    func peak(over seconds: Int) -> Double {
        var (sum, most) = (0, 0)
        for index in counts.indices {
            sum += counts[index] - (index >= seconds ? counts[index - seconds] : 0)
            most = max(most, sum)
        }
        return Double(most) / Double(seconds)
    }
}
