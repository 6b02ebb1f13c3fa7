// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import ImageChecks

/// The failure of the last attempts, and when the next one is due.
package struct RepeatedFailure: Equatable, Sendable {
    package var code: FetchFailure.Code
    package var message: String
    /// How many attempts failed in a row; those of a failure that is likely to last begin with its first one.
    package var attempts: Int
    /// When it is retried; `nil` if it is not retried until its list or the settings change.
    package var nextAttempt: Timestamp?

    package init(code: FetchFailure.Code, message: String, attempts: Int, nextAttempt: Timestamp?) {
        self.code = code
        self.message = message
        self.attempts = attempts
        self.nextAttempt = nextAttempt
    }

    /// How long the cause is likely to last, as far as it is stored.
    package var persistence: FetchFailure.Persistence {
        // One code for both cases: only the message tells them apart.
        code.dependsOnLength && message.hasSuffix(ImageRejection.atSource) ? .lasting : code.persistence
    }

    /// Whether its cause is likely to last for hours or for good.
    package var isLasting: Bool {
        if persistence == .momentary { return attempts > Backoff.momentaryAttempts }
        return ![.passing, .throttled].contains(persistence)
    }
}
