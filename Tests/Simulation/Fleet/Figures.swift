// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import SyncPlan

/// What is counted in a run.
struct Figures {
    private let run: Run
    /// The requests of each icon to its origin.
    private(set) var origins: [Int]
    /// The requests to all origins.
    private(set) var originRequests: Rates
    /// The requests of machines to the upstream, at the caches if there are some.
    var requests: Rates
    private(set) var polls = 0
    private(set) var bypasses = 0
    /// When times begin to count.
    private var zero: Timestamp
    /// When each machine had each icon first; negative if it has not.
    private var arrivals: [Float]
    /// The longest that a machine waited for an icon since its list came.
    private(set) var longestWait: Duration = .zero

    init(_ run: Run, from zero: Timestamp) {
        self.run = run
        self.zero = zero
        origins = Array(repeating: 0, count: run.icons)
        originRequests = Rates(from: zero, for: run.scenario.end)
        requests = Rates(from: zero, for: run.scenario.end)
        arrivals = Array(repeating: -1, count: run.icons * run.machines)
    }

    /// Counts arrivals from now on anew, because there are other images.
    mutating func restart(at now: Timestamp) {
        zero = now
        arrivals = Array(repeating: -1, count: arrivals.count)
    }

    mutating func count(_ poll: UpstreamPoll, at now: Timestamp) {
        polls += 1
        if poll.bypassesCaches { bypasses += 1 }
    }

    mutating func countOrigin(_ icon: Int, at now: Timestamp) {
        origins[icon] += 1
        originRequests.count(at: now)
    }

    mutating func recordArrival(of icon: Int, on machine: Int, at now: Timestamp, since landing: Timestamp) {
        let place = icon * run.machines + machine - 1
        guard arrivals[place] < 0 else { return }
        let time = (now - zero).components
        arrivals[place] = Float(time.seconds) + Float(time.attoseconds) / 1e18
        longestWait = max(longestWait, now - max(landing, zero))
    }

    /// How many icons are missing on machines.
    var missing: Int { arrivals.count { $0 < 0 } }

    /// Which share of the machines has an icon, every 30 s, in percent.
    var curve: [Double] {
        let end = Float((run.scenario.end - (run.scenario.change ?? .zero)).components.seconds)
        var counts = Array(repeating: 0, count: Int(min(end, 7200) / 30) + 1)
        for time in arrivals where time >= 0 && time <= 7200 { counts[Int((time / 30).rounded(.up))] += 1 }
        var sum = 0
        return counts.map { count in
            sum += count
            return (Double(sum) / Double(arrivals.count) * 1000).rounded() / 10
        }
    }

    /// Until when a share of the machines has an icon, in seconds; `nil` if they do not.
    func arrival(_ share: Double) -> Float? {
        let sorted = arrivals.lazy.map { $0 < 0 ? Float.infinity : $0 }.sorted()
        let found = sorted[max(0, Int((Double(sorted.count) * share).rounded(.up)) - 1)]
        return found.isFinite ? found : nil
    }
}
