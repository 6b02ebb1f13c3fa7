// SPDX-License-Identifier: Apache-2.0

/// Decides when to retry after a failure.
package struct Backoff: Sendable {
    /// The delay ceiling of the first retry after a transient failure.
    package var base: Duration
    /// The longest delay after a transient failure.
    package var max: Duration

    package init(base: Duration, max: Duration) {
        self.base = base
        self.max = max
    }

    /// The longest delay that a server can ask for: a day.
    package static let longestWait: Duration = .seconds(86_400)
    /// The number of attempts that follow a momentary failure at the intervals of a transient one: about 2 min in all.
    package static let momentaryAttempts = 8
    /// The number of attempts in a row that may follow each other as fast as the server asks.
    package static let shortWaits = 3
    private static let gone: Duration = .seconds(7 * 86_400)
    private static let lasting: Duration = .seconds(86_400)

    /// The delay after a failure, by what the server asks for and what the kind of failure implies; `nil` if never.
    package func delay(
        after failure: FetchFailure, attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        delay(after: failure.persistence, requested: failure.wait, attempt: attempt, using: &generator)
    }

    /// The delay after the given attempt failed, if the server asks for a delay; `nil` if a retry is useless.
    ///
    /// For ``shortWaits`` attempts, the server's delay replaces the backoff. After that the longer one counts, because
    /// some servers send the same short delay forever. It is extended by up to 10 %, so that clients which got the same
    /// answer do not return together.
    package func delay(
        after persistence: FetchFailure.Persistence, requested wait: Duration?, attempt: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard let wait else { return delay(after: persistence, attempt: attempt, using: &generator) }
        let longer = Swift.min(wait, Self.longestWait) * Double.random(in: 1...1.1, using: &generator)
        let requested = Swift.min(longer, Self.longestWait)
        guard attempt > Self.shortWaits else { return requested }
        return delay(after: persistence, attempt: attempt, using: &generator).map { Swift.max($0, requested) }
    }

    /// The longest possible delay after a failure.
    ///
    /// A later due time was computed with a wrong clock.
    package func longest(after code: FetchFailure.Code) -> Duration {
        let kind = code.persistence == .gone ? Self.gone : Self.lasting
        return Swift.max(kind * 1.2, max)
    }

    /// The delay after the given attempt failed (the first is 1); `nil` if a retry is useless.
    ///
    /// Transient failures: exponential backoff with full jitter, so that ten thousand machines which lost the same
    /// server do not return together. Other failures: long delays with 20 % jitter either way. Momentary failures are
    /// transient for ``momentaryAttempts``.
    package func delay(
        after persistence: FetchFailure.Persistence, attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        precondition(attempt > 0, "attempts are counted from 1")
        switch persistence {
        case .passing, .throttled:
            let ceiling = Swift.min(Self.doubled(base, times: attempt - 1), max)
            return ceiling * generator.fraction()
        case .momentary:
            let late = attempt - Self.momentaryAttempts
            return late > 0
                ? delay(after: .lasting, attempt: late, using: &generator)
                : delay(after: .passing, attempt: attempt, using: &generator)
        case .lasting:
            return Swift.min(Self.doubled(.seconds(3600), times: attempt - 1), Self.lasting).jittered(using: &generator)
        case .forbidden: return Duration.seconds(6 * 3600).jittered(using: &generator)
        case .gone: return Self.gone.jittered(using: &generator)
        case .refused: return nil
        }
    }

    private static func doubled(_ duration: Duration, times: Int) -> Duration {
        duration * (1 << Swift.min(times, 30))
    }
}

extension Duration {
    package func jittered(using generator: inout some RandomNumberGenerator) -> Duration {
        self * Double.random(in: 0.8...1.2, using: &generator)
    }
}

extension RandomNumberGenerator {
    /// `Double.random(in: 0...1)` for this generator, which takes many times as long where its type is not known.
    mutating func fraction() -> Double {
        let bound: UInt64 = 1 << 53 + 1
        var number = next().multipliedFullWidth(by: bound)
        while number.low < (0 &- bound) % bound { number = next().multipliedFullWidth(by: bound) }
        return Double(number.high) * 0x1p-53
    }
}
