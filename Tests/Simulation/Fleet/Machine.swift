// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import SyncPlan

/// A machine with an agent: the plan, and what of the agent's effects takes time.
struct Machine {
    var plan: Reconciler
    /// How far its clock is ahead.
    let clock: Duration
    /// When the new list reaches it.
    let landing: Timestamp
    /// Whether the list is in its folder, or was taken over.
    var hasList = false
    /// When it is to be woken.
    var wake: Timestamp?
    /// The copy that it knows.
    var copy: Int?
}

/// A look at the upstream, and what came of it.
struct Poll {
    let request: UpstreamPoll
    var outcome: UpstreamAnswer.Outcome?
}

/// Something that happens to a machine.
struct Happening: Comparable {
    enum Kind {
        case wake
        case landing
        /// The manifest of a copy came.
        case manifest(copy: Int)
        /// The look at the upstream ended.
        case polled
        /// A download ended.
        case fetched(icon: Int, Source)
        /// The icons have other images at their origin, and the seeder is told so.
        case change
    }

    enum Source {
        case upstream(Fault?)
        case origin
    }

    let time: Timestamp
    /// Of two things at one time, the one that was caused first comes first.
    let number: Int
    let machine: Int
    let kind: Kind

    static func < (a: Happening, b: Happening) -> Bool { (a.time, a.number) < (b.time, b.number) }
    static func == (a: Happening, b: Happening) -> Bool { (a.time, a.number) == (b.time, b.number) }
}
