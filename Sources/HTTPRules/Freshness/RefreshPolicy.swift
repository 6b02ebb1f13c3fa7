// SPDX-License-Identifier: Apache-2.0

/// What bounds the servers' say in when an image is asked for again.
package struct RefreshPolicy: Equatable, Sendable {
    /// How soon an image may be asked for again, whatever its server says.
    ///
    /// The default is 1 h.
    package var minimum: Duration
    /// How long an image rests of which the server says neither how long it is fresh nor how to ask for changes,
    /// give or take a fifth.
    ///
    /// The default is 24 h.
    package var `default`: Duration
    /// The longest that an image rests, whatever its server says.
    ///
    /// The default is 365 days: the longest lifetime that servers use in earnest, so that it cuts off nothing but
    /// mistakes, and an image that was sent with one is not kept for ever.
    package var maximum: Duration
    /// The longest lifetime that is guessed from the last change.
    ///
    /// The default is 24 h, like ``default``: with a validator at hand a wrong guess is cheap to find out.
    package var longestGuess: Duration
    /// The most by which an image is asked for later than the rules say, so that a fleet which was told the same time
    /// does not come back in the same second.
    ///
    /// The default is 1 h; it never is more than a tenth of the time that the image has rested.
    package var longestDelay: Duration

    package init(
        minimum: Duration = .seconds(3600), default: Duration = .seconds(86_400),
        maximum: Duration = .seconds(365 * 86_400), longestGuess: Duration = .seconds(86_400),
        longestDelay: Duration = .seconds(3600)
    ) {
        self.minimum = minimum
        self.default = `default`
        self.maximum = maximum
        self.longestGuess = longestGuess
        self.longestDelay = longestDelay
    }
}
