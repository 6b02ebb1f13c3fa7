// SPDX-License-Identifier: Apache-2.0

/// What a server allows to be done with a response that is not fresh any more (RFC 9111, section 4.2.4; RFC 5861).
package struct StaleUse: Equatable, Sendable {
    package enum Occasion: Sendable {
        /// It is being asked for again.
        case whileRevalidating
        /// It was asked for again, and there was no answer, or one that only speaks of the server's troubles (5xx).
        case onError
    }

    /// Nothing is allowed.
    package static let forbidden = StaleUse(whileRevalidating: .zero, onError: .zero)

    /// For how long past its freshness.
    package let whileRevalidating: Duration
    /// For how long past its freshness; `nil` if the server sets no limit.
    package let onError: Duration?

    private init(whileRevalidating: Duration, onError: Duration?) {
        self.whileRevalidating = whileRevalidating
        self.onError = onError
    }

    /// What the directives of a response allow; the strictest one counts.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - control: Its ``StoredResponse/cacheControl``.
    init(of response: StoredResponse, _ control: CacheControl) {
        guard control.flags.isDisjoint(with: [.noCache, .mustRevalidate]), !response.forbidsStoring(control),
            !response.variesOnEverything
        else {
            self = .forbidden
            return
        }
        self.init(whileRevalidating: control.staleWhileRevalidate ?? .zero, onError: control.staleIfError)
    }

    package func permits(_ occasion: Occasion, staleness: Duration) -> Bool {
        switch occasion {
        case .whileRevalidating: staleness < whileRevalidating
        case .onError: onError.map { staleness < $0 } ?? true
        }
    }
}
