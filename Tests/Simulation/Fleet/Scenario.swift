// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Fleet
import SyncPlan

/// What happens to a fleet.
///
/// Times count from the moment when the new list reaches the first machine.
struct Scenario: Sendable {
    /// How the upstream's server does not answer.
    enum Outage: Sendable {
        /// It closes connections at once.
        case refuses
        /// It accepts connections and stays silent.
        case hangs
    }

    var name: String
    /// For the table.
    var title: String
    /// When a publication of the seeder is at the upstream.
    var copyDelay: Duration = .seconds(60)
    /// How much later than the manifest the images are there: publishers in the right order have none of this.
    var imageDelay: Duration = .zero
    /// The caches between the machines and the upstream's server; none if machines ask the server itself.
    var edges = 20
    var outage: Outage?
    /// When the outage begins and ends.
    var outageTimes: Range<Duration> = .zero ..< .zero
    /// How far clocks are off, at most.
    var clockError: Duration = .seconds(1)
    /// Whether the list reaches the seeder alone, and the other machines take it over from the upstream.
    var takesLists = false
    /// When another image is at the origin of each icon, which the seeder is told to refresh.
    var change: Duration?
    /// When the seeder ends for good.
    var seederEnd: Duration?
    /// When the simulation ends.
    var end: Duration = .seconds(3600)
    /// Within what time the list reaches all machines.
    var landing: Duration = .seconds(300)
    /// How long the fleet has been running when the list comes.
    var before: Duration = .seconds(1200)
    /// By how much the times of upstreams and caches are shorter than by default.
    var pace = 1

    static let all: [Scenario] = [
        Scenario(name: "copy-1", title: "copy after 1 min"),
        Scenario(name: "copy-10", title: "copy after 10 min", copyDelay: .seconds(600)),
        Scenario(name: "copy-20", title: "copy after 20 min", copyDelay: .seconds(1200)),
        Scenario(name: "direct", title: "copy after 1 min, no caches", edges: 0),
        Scenario(name: "at-once", title: "copy after 1 min, the list is everywhere at once")
            .with { $0.landing = .zero },
        Scenario(name: "clocks", title: "copy after 10 min, clocks off by 10 min", copyDelay: .seconds(600))
            .with { $0.clockError = .seconds(600) },
        Scenario(name: "unordered", title: "manifest 30 s before its images", imageDelay: .seconds(30)),
        Scenario(name: "lists", title: "list from the upstream, copy after 1 min")
            .with { ($0.takesLists, $0.landing) = (true, .zero) },
        Scenario(name: "refuses", title: "upstream refuses for 1 h, after 4 min", outage: .refuses)
            .with { $0.setOutage(after: .seconds(240)) },
        Scenario(name: "hangs", title: "upstream hangs for 1 h, after 4 min", outage: .hangs)
            .with { $0.setOutage(after: .seconds(240)) },
        Scenario(name: "dead", title: "upstream refuses for 1 h, from the start", outage: .refuses)
            .with { $0.setOutage(after: .zero) },
        Scenario(
            name: "direct-hangs", title: "upstream hangs for 1 h, after 4 min, no caches", edges: 0, outage: .hangs
        )
        .with { $0.setOutage(after: .seconds(240)) },
        Scenario(name: "change", title: "all icons change after 1 h")
            .with { ($0.change, $0.end) = (.seconds(3600), .seconds(7200)) },
        Scenario(name: "frozen", title: "seeder ends after 1 h, 80 h pass")
            .with { ($0.seederEnd, $0.end) = (.seconds(3600), .seconds(80 * 3600)) },
        Scenario(name: "paced-1", title: "a minute takes a second, copy after 1 s", copyDelay: .seconds(1), edges: 1)
            .paced(by: 60),
        Scenario(name: "paced-20", title: "a minute takes a second, copy after 20 s", copyDelay: .seconds(20), edges: 1)
            .paced(by: 60),
    ]

    /// Has the outage last for an hour, and the simulation go on for as long after it.
    private mutating func setOutage(after time: Duration) {
        outageTimes = time..<time + .seconds(3600)
        end = .seconds(7200)
    }

    /// What agents of `Tests/Fleet` do, too: there it does not take an hour.
    private func paced(by pace: Int) -> Scenario {
        with {
            $0.pace = pace
            $0.landing /= pace
            $0.before /= pace
            $0.end = .seconds(90)
        }
    }

    private func with(_ change: (inout Scenario) -> Void) -> Scenario {
        var scenario = self
        change(&scenario)
        return scenario
    }
}

/// One run of a scenario.
struct Run {
    var scenario: Scenario
    var machines: Int
    var fallback: Settings.Upstream.Fallback
    var icons = 5
    var seed: UInt64 = 1
}
