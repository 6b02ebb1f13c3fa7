// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports

/// One call of the plan: its time, its source of randomness, and its results.
struct Turn: Sendable {
    var now: Timestamp
    /// The wall clock, for times in reports and events.
    var wallClock: WallClock
    /// The source of jitter.
    var generator: SeededGenerator
    var actions: [Reconciler.Action] = []
    /// The events of this turn that were not drained yet.
    private(set) var events: [AgentEvent] = []
    /// The downloads that ended in this turn, with the outcomes that the plan gave them.
    var ended: [EndedDownload] = []
    /// Changes to store for the next start, collected over several turns.
    var memos = UnstoredChanges()

    init(at now: Timestamp, seed: UInt64) {
        self.now = now
        wallClock = WallClock(start: now)
        generator = SeededGenerator(seed: seed)
    }

    /// Begins a call; drops events that were not drained.
    mutating func begin(at now: Timestamp) {
        self.now = now
        (events, ended) = ([], [])
    }

    mutating func end() -> [Reconciler.Action] { exchange(&actions, with: []) }

    mutating func emit(_ event: AgentEvent) { events.append(event) }

    mutating func drainEvents() -> [AgentEvent] { exchange(&events, with: []) }

    mutating func start(_ job: Reconciler.Job) { actions.append(.start(job)) }

    /// Removes staged images.
    mutating func discard(_ images: [StagedImage]) {
        if !images.isEmpty { run(.discard(images.map(\.name))) }
    }

    mutating func run(_ task: Reconciler.BackgroundTask) { actions.append(.background(task)) }
}
