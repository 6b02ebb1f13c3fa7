// SPDX-License-Identifier: Apache-2.0

/// A fixed piece of work: the same in each run, without clock, threads or randomness.
struct Scenario: Sendable {
    var name: String
    /// How many of its things are done when it counts.
    var size: Int
    /// What the work gives then: a change of the code that makes it do less, or something else, shows.
    var result: Int
    /// Sets up the work on so many things; only the work itself counts.
    var prepare: @Sendable (Int) throws -> () throws -> Int

    static let all: [Scenario] = [.outcomes, .list, .images, .lookUps, .documents]
}

/// The work that counts.
enum Measured {
    nonisolated(unsafe) static var work: () throws -> Int = { 0 }
    nonisolated(unsafe) static var result: Result<Int, any Error>?
}

/// What callgrind collects by its name.
@inline(never)
@_silgen_name("syncagent_measured_work")
func measuredWork() {
    Measured.result = Result { try Measured.work() }
}
