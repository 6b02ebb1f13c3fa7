// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// How long a response is fresh, and how that was computed (RFC 9111, section 4.2).
package struct Freshness: Equatable, Sendable {
    /// What the freshness lifetime is based on.
    package enum Basis: Equatable, Sendable {
        case maxAge
        /// The date in `Expires`, and the `Date` from which it counts.
        case expires(Timestamp, date: Timestamp)
        /// Heuristic: a tenth of the time between the last change and `Date`.
        case guess(lastModified: Timestamp, date: Timestamp)
        case denied(Denial)
        /// The server gives no lifetime, and no basis for a heuristic.
        case unsaid
    }

    package enum Denial: String, Sendable {
        case noStore = "no-store"
        case noCache = "no-cache"
        case variesOnEverything = "Vary: *"
        case malformedMaxAge = "malformed max-age"
        case malformedExpires = "malformed Expires"
    }

    /// The age of a response when it was received (RFC 9111, section 4.2.3).
    package struct ReceivedAge: Equatable, Sendable {
        /// The `Age` field: the time spent in other caches.
        package var field: Duration
        package var delay: Duration
        /// The time since `Date`, which is right if both clocks are.
        package var apparent: Duration

        package var total: Duration { max(apparent, field + delay) }
    }

    package let basis: Basis
    /// The freshness lifetime, counted from the generation of the response; at least zero.
    package let lifetime: Duration
    package let receivedAge: ReceivedAge
    package let receivedAt: Timestamp
    package let hasValidator: Bool
    /// How long the redirects to the response hold after its receipt; `nil` if none says so.
    package let redirectLifetime: Duration?
    /// What the redirect said that sets this time, in words; `nil` if that is not known.
    package let redirectCause: String?

    /// `longestGuess` limits the heuristic lifetime.
    package init(of response: StoredResponse, longestGuess: Duration = RefreshPolicy().longestGuess) {
        // Read each field only once: this runs for every response.
        let control = response.cacheControl
        let date = response.date
        let lastModified = response.lastModified
        basis = Basis(of: response, control, date: date, lastModified: lastModified)
        lifetime = basis.lifetime(control, longestGuess: longestGuess)
        receivedAge = ReceivedAge(
            field: response.age, delay: max(response.responseTime - response.requestTime, .zero),
            apparent: max(response.wallTime - date, .zero))
        receivedAt = response.responseTime
        hasValidator = lastModified != nil || response.entityTag != nil
        redirectLifetime = response.redirectLifetime
        redirectCause = response.redirectCause
    }

    /// When the response or a redirect to it becomes stale; the time of receipt if one was never fresh.
    package var end: Timestamp { receivedAt + min(ownLifetime, redirectLifetime ?? ownLifetime) }

    /// How long the response itself is fresh after its receipt.
    private var ownLifetime: Duration { max(lifetime - receivedAge.total, .zero) }

    /// Whether a redirect to the response becomes stale before it.
    package var endsWithRedirect: Bool { redirectLifetime.map { $0 < ownLifetime } ?? false }

    /// The age of the response (`current_age`).
    ///
    /// If the clock was set back since, the age stays at least what it was on receipt.
    package func age(at now: Timestamp) -> Duration {
        receivedAge.total + max(now - receivedAt, .zero)
    }

    package func isFresh(at now: Timestamp) -> Bool {
        lifetime > age(at: now) && redirectLifetime.map { receivedAt + $0 > now } ?? true
    }
}

extension Freshness.Basis {
    fileprivate init(of response: StoredResponse, _ control: CacheControl, date: Timestamp, lastModified: Timestamp?) {
        if response.forbidsStoring(control) {
            self = .denied(.noStore)
        } else if control.flags.contains(.noCache) {
            self = .denied(.noCache)
        } else if response.variesOnEverything {
            self = .denied(.variesOnEverything)
        } else if control.maxAge != .unsaid {
            self = control.maxAge == .malformed ? .denied(.malformedMaxAge) : .maxAge
        } else if let expires = response.fields.first("expires") {
            let time = HTTPDate.parse(expires, now: response.responseTime)
            self = time.map { .expires($0, date: date) } ?? .denied(.malformedExpires)
        } else if response.mayBeGuessedFresh(control), let changed = lastModified, changed < date {
            self = .guess(lastModified: changed, date: date)
        } else {
            self = .unsaid
        }
    }

    fileprivate func lifetime(_ control: CacheControl, longestGuess: Duration) -> Duration {
        switch self {
        case .maxAge:
            guard case .duration(let duration) = control.maxAge else { return .zero }
            return duration
        case .expires(let time, let date): return max(time - date, .zero)
        case .guess(let lastModified, let date): return min((date - lastModified) / 10, longestGuess)
        case .denied, .unsaid: return .zero
        }
    }
}
