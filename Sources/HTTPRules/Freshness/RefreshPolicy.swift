// SPDX-License-Identifier: Apache-2.0

/// The agent's bounds on the refresh times that servers give.
package struct RefreshPolicy: Equatable, Sendable {
    /// The shortest time between two checks, whatever the server says (default 1 h).
    package var minimum: Duration
    /// The time between checks when the server gives neither a lifetime nor a validator, ±20 % (default 24 h).
    package var `default`: Duration
    /// The longest time between two checks, whatever the server says (default 365 days).
    ///
    /// No server means a longer lifetime seriously, so this corrects only mistakes, and no image is kept forever.
    package var maximum: Duration
    /// The longest heuristic freshness lifetime (default 24 h): a wrong guess is cheap to correct with a validator.
    package var longestGuess: Duration
    /// The longest random delay of a check, so that a fleet with the same due time does not return in the same second.
    ///
    /// Default 1 h; at most a tenth of the time since receipt.
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
