// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports

/// A call of the plan: its time, its source of randomness, and its results.
struct Turn: Sendable {
    var now: Timestamp
    /// For the times in reports and events.
    var wallClock: WallClock
    /// Jitters delays.
    var generator: SeededGenerator
    var actions: [Reconciler.Action] = []
    /// The events of this turn that were not taken yet.
    private(set) var events: [AgentEvent] = []
    /// The downloads that ended in this turn, as they were judged.
    var ended: [EndedDownload] = []
    /// Changes to store for the next start, collected over several turns.
    var memos = UnstoredChanges()

    init(at now: Timestamp, seed: UInt64) {
        self.now = now
        wallClock = WallClock(start: now)
        generator = SeededGenerator(seed: seed)
    }

    /// Begins a call; events that were not taken are dropped.
    mutating func begin(at now: Timestamp) {
        self.now = now
        (events, ended) = ([], [])
    }

    mutating func end() -> [Reconciler.Action] {
        defer { actions = [] }
        return actions
    }

    mutating func emit(_ event: AgentEvent) { events.append(event) }

    mutating func drainEvents() -> [AgentEvent] {
        defer { events = [] }
        return events
    }

    mutating func start(_ job: Reconciler.Job) { actions.append(.start(job)) }

    mutating func run(_ task: Reconciler.BackgroundTask) { actions.append(.background(task)) }
}
