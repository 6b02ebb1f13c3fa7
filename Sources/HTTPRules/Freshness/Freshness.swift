// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// How long a response is fresh, with the arithmetic behind it (RFC 9111, section 4.2).
package struct Freshness: Equatable, Sendable {
    /// What the lifetime follows from.
    package enum Basis: Equatable, Sendable {
        case maxAge
        /// The date in `Expires`, and the `Date` from which it counts.
        case expires(Timestamp, date: Timestamp)
        /// A tenth of the time for which the image had not changed when it was sent.
        case guess(lastModified: Timestamp, date: Timestamp)
        /// It is never fresh.
        case denied(Denial)
        /// The server says nothing from which a lifetime follows.
        case unsaid
    }

    /// What keeps a response from ever being fresh.
    package enum Denial: String, Sendable {
        case noStore = "no-store"
        case noCache = "no-cache"
        case variesOnEverything = "Vary: *"
        case malformedMaxAge = "malformed max-age"
        case malformedExpires = "malformed Expires"
    }

    /// How old the response was when it was received (RFC 9111, section 4.2.3).
    package struct ReceivedAge: Equatable, Sendable {
        /// What other caches say.
        package var field: Duration
        /// How long the answer took.
        package var delay: Duration
        /// How long ago it was sent, if both clocks are right.
        package var apparent: Duration

        /// The age when it was received.
        package var total: Duration { max(apparent, field + delay) }
    }

    package let basis: Basis
    /// How long the response is fresh after it was made; at least zero.
    package let lifetime: Duration
    package let receivedAge: ReceivedAge
    package let receivedAt: Timestamp
    /// Whether a request about it can be conditional.
    package let hasValidator: Bool

    /// The freshness of a response.
    ///
    /// - Parameters:
    ///   - response: What is remembered of it.
    ///   - longestGuess: The most that is believed of an image of which only its last change is known.
    package init(of response: StoredResponse, longestGuess: Duration = RefreshPolicy().longestGuess) {
        // Each field is read once: this is done for every response.
        let control = response.cacheControl
        let date = response.date
        let lastModified = response.lastModified
        basis = Basis(of: response, control, date: date, lastModified: lastModified)
        lifetime = basis.lifetime(control, longestGuess: longestGuess)
        receivedAge = ReceivedAge(
            field: response.age, delay: max(response.responseTime - response.requestTime, .zero),
            apparent: max(response.responseTime - date, .zero))
        receivedAt = response.responseTime
        hasValidator = lastModified != nil || response.entityTag != nil
    }

    /// The first moment at which it is not fresh any more.
    ///
    /// If it never was, that is the moment at which it was received.
    package var end: Timestamp { receivedAt + max(lifetime - receivedAge.total, .zero) }

    /// How old the response is (`current_age`).
    ///
    /// A clock that was set back since makes it no younger than it was when it was received.
    package func age(at now: Timestamp) -> Duration {
        receivedAge.total + max(now - receivedAt, .zero)
    }

    package func isFresh(at now: Timestamp) -> Bool { lifetime > age(at: now) }
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
