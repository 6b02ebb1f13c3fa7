// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import ImageChecks

/// The failure of the last attempts, and when the next one is due.
package struct RepeatedFailure: Equatable, Sendable {
    package var code: FetchFailure.Code
    package var message: String
    /// The number of failed attempts in a row; for a failure that is likely to last, since the first one of its kind.
    package var attempts: Int
    /// When the icon is retried; `nil` if it is not retried until its list or the settings change.
    package var nextAttempt: Timestamp?
    /// The size of the image that did not fit under a limit, in bytes; `nil` for other failures, and if it is not known.
    package var imageBytes: Int?

    package init(
        code: FetchFailure.Code, message: String, attempts: Int, nextAttempt: Timestamp?, imageBytes: Int? = nil
    ) {
        (self.code, self.message, self.attempts) = (code, message, attempts)
        (self.nextAttempt, self.imageBytes) = (nextAttempt, imageBytes)
    }

    /// How long the cause is likely to last, as far as it is stored.
    package var persistence: FetchFailure.Persistence {
        // Cases with the same code: only the message distinguishes them.
        if message.starts(withBytes: FetchFailure.redirected) { return .lasting }
        if code == .fetch(.addressRefused), !isOfNumericHost { return .momentary }
        if code == .fetch(.protocolViolation), message.ends(withBytes: FetchFailure.mayPass) { return .passing }
        return code.dependsOnLength && message.hasSuffix(ImageRejection.atSource) ? .lasting : code.persistence
    }

    /// Whether the advice of a refused address names a host that is written as an address, and so has no other one.
    private var isOfNumericHost: Bool {
        AddressAdvice.find(in: message)?.advice.host.map(FetchTarget.isNoName) ?? false
    }

    /// Whether its cause is likely to last for hours or for good.
    package var isLasting: Bool {
        // Often a setting is missing.
        if code == .fetch(.addressRefused) { return true }
        if persistence == .momentary { return attempts > Backoff.momentaryAttempts }
        return ![.passing, .throttled].contains(persistence)
    }
}
