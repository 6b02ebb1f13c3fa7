// SPDX-License-Identifier: Apache-2.0

/// When to ask again after a failure.
package struct Backoff: Sendable {
    /// The first step after a passing failure.
    package var base: Duration
    /// The longest delay after a passing failure.
    package var max: Duration

    package init(base: Duration, max: Duration) {
        self.base = base
        self.max = max
    }

    /// The longest that a server can make the agent wait.
    package static let longestWait: Duration = .seconds(86_400)
    private static let gone: Duration = .seconds(7 * 86_400)
    private static let lasting: Duration = .seconds(86_400)

    /// How long to wait after a failure: as long as the server asks for, else as the kind of failure has it.
    ///
    /// The wish of a server is exceeded by up to a tenth, so that not all whom it told the same come back at once.
    package func delay(
        after failure: FetchFailure, attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard let wait = failure.wait else {
            return delay(after: failure.persistence, attempt: attempt, using: &generator)
        }
        let longer = Swift.min(wait, Self.longestWait) * Double.random(in: 1...1.1, using: &generator)
        return Swift.min(longer, Self.longestWait)
    }

    /// The longest delay there can be after a failure: a time that lies beyond it was set by another clock.
    package func longest(after code: FetchFailure.Code) -> Duration {
        let kind = code.persistence == .gone ? Self.gone : Self.lasting
        return Swift.max(kind * 1.2, max)
    }

    /// How long to wait after the given attempt failed (the first one is 1); `nil` if asking again is no use.
    ///
    /// Passing failures: exponential with full jitter, so that ten thousand machines that lost the same server do not
    /// come back to it together. The others are far apart, with a fifth of jitter either way.
    package func delay(
        after persistence: FetchFailure.Persistence, attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        precondition(attempt > 0, "attempts are counted from 1")
        switch persistence {
        case .passing, .throttled:
            let ceiling = Swift.min(Self.doubled(base, times: attempt - 1), max)
            return ceiling * Double.random(in: 0...1, using: &generator)
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
    /// The duration times a random factor between 0.8 and 1.2.
    package func jittered(using generator: inout some RandomNumberGenerator) -> Duration {
        self * Double.random(in: 0.8...1.2, using: &generator)
    }
}
