// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// When changes are published: at once when nothing else is on its way, else in groups.
///
/// A publication costs about the same for one image as for a thousand. So while downloads run, changes are gathered for a
/// moment, and at most a tenth of the time goes to publishing. What superseded documents take on disk is bounded too: they
/// stay for the grace period, and are written at no more than `growth` bytes a second.
///
/// Where all downloads that are left may hang, nobody knows what to gather for: one publication may then come before its
/// time, and the next one waits the longer.
package struct PublicationWindow: Sendable {
    /// What is downloaded meanwhile.
    package enum Traffic: Sendable {
        /// No download runs or waits for its turn.
        case none
        /// Only such run or wait as are not known to have a server that answers.
        case doubtful
        case flowing
    }

    /// How long the first change waits for others, while downloads run.
    private static let gathering: Duration = .milliseconds(50)
    /// The time between two publications, as a multiple of what the first one cost.
    private static let pace = 9
    /// How many bytes of documents may be written a second, while downloads run.
    private static let growth = 1 << 20
    /// The first and the longest delay after a failed publication.
    private static let retry: (first: Duration, longest: Duration) = (.seconds(1), .seconds(60))

    private var dirtySince: Timestamp?
    private var paced = Timestamp.distantPast
    /// From when on one publication may come before its time.
    private var loan = Timestamp.distantPast
    /// By how much the present publication came before its time.
    private var advance = Duration.zero
    private var notBefore = Timestamp.distantPast
    private var failures = 0

    package init() {}

    /// Something changed that a manifest tells.
    package mutating func noteChange(at now: Timestamp) {
        if dirtySince == nil { dirtySince = now }
    }

    /// When to publish, if nothing more happens.
    ///
    /// - Returns: `nil` if there is nothing to publish.
    package func due(during traffic: Traffic) -> Timestamp? {
        guard let dirtySince else { return nil }
        return switch traffic {
        case .none: max(dirtySince, notBefore)
        case .doubtful: max(dirtySince + Self.gathering, loan, notBefore)
        case .flowing: max(dirtySince + Self.gathering, paced, notBefore)
        }
    }

    /// A publication of all changes noted so far begins.
    package mutating func begin(during traffic: Traffic, at now: Timestamp) {
        dirtySince = nil
        advance = traffic == .doubtful && now < paced ? paced - now : .zero
    }

    /// A publication ended well.
    package mutating func finish(at now: Timestamp, cost: Duration, bytesWritten: Int) {
        failures = 0
        let growth = Duration.nanoseconds(1_000_000_000 * Int64(min(bytesWritten, 1 << 33)) / Int64(Self.growth))
        paced = now + max(cost * Self.pace, growth) + advance
        loan = advance > .zero ? paced : now
    }

    /// A publication failed: what it would have published is a change again.
    package mutating func fail(at now: Timestamp) {
        failures += 1
        notBefore = now + min(Self.retry.first * (1 << min(failures - 1, 10)), Self.retry.longest)
        noteChange(at: now)
    }

    /// What made publications fail may be over: the next one need not wait.
    package mutating func retry(at now: Timestamp) {
        notBefore = min(notBefore, now)
    }
}
