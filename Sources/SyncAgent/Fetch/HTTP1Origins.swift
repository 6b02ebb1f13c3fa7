// SPDX-License-Identifier: Apache-2.0

/// The secure origins that are asked by HTTP/1.1 alone for a while, because HTTP/2 has come to nothing.
struct HTTP1Origins {
    private static let lifetime: Duration = .seconds(3600)

    private var ends: [String: ContinuousClock.Instant] = [:]
    /// How many there are before those are looked for whose time is over.
    private var limit = 1024

    func contains(_ origin: String) -> Bool {
        ends[origin].map { $0 > .now } ?? false
    }

    mutating func remove(_ origin: String) {
        ends[origin] = nil
    }

    mutating func insert(_ origin: String) {
        let now = ContinuousClock.now
        ends[origin] = now + Self.lifetime
        guard ends.count > limit else { return }
        ends = ends.filter { $0.value > now }
        limit = max(limit, 2 * ends.count)
    }
}
