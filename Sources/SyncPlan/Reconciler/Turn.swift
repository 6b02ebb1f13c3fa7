// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports

/// One call of the plan: its time, its source of randomness, and what comes out of it.
struct Turn: Sendable {
    var now: Timestamp
    /// Jitters delays.
    var generator: SeededGenerator
    var actions: [Reconciler.Action] = []
    /// The events of this turn that nobody has taken yet.
    private(set) var events: [AgentEvent] = []
    /// What to store for the next start; it waits for others to be stored with it.
    var memos = UnstoredChanges()

    init(at now: Timestamp, seed: UInt64) {
        self.now = now
        generator = SeededGenerator(seed: seed)
    }

    /// Begins another call; events that nobody took are dropped.
    mutating func begin(at now: Timestamp) {
        self.now = now
        events = []
    }

    mutating func end() -> [Reconciler.Action] {
        defer { actions = [] }
        return actions
    }

    mutating func emit(_ event: AgentEvent) { events.append(event) }

    mutating func takeEvents() -> [AgentEvent] {
        defer { events = [] }
        return events
    }

    mutating func start(_ job: Reconciler.Job) { actions.append(.start(job)) }

    mutating func run(_ task: Reconciler.BackgroundTask) { actions.append(.background(task)) }
}
