// SPDX-License-Identifier: Apache-2.0

/// How many transfers use connections to each place, and when the last one ended.
struct PlaceUses {
    /// How long a place without transfers is remembered, for those that wait for its connections.
    private static let memory = Duration.seconds(60)
    private static let smallest = 256

    private var uses: [String: (count: Int, end: ContinuousClock.Instant)] = [:]
    /// The number of places at which forgotten ones are removed.
    private var limit = smallest

    mutating func begin(at place: String, _ now: ContinuousClock.Instant) {
        if uses.count > limit {
            uses = uses.filter { $0.value.count > 0 || now - $0.value.end < Self.memory }
            limit = max(Self.smallest, 2 * uses.count)
        }
        uses[place, default: (0, now)].count += 1
    }

    mutating func end(at place: String, _ now: ContinuousClock.Instant) {
        if let count = uses[place]?.count { uses[place] = (count - 1, now) }
    }

    /// When transfers last used connections to a place: now, if some do; `nil` if unknown.
    func last(at place: String, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        uses[place].map { $0.count > 0 ? now : $0.end }
    }
}
