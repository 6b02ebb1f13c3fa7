// SPDX-License-Identifier: Apache-2.0

/// Secure origins that are limited to HTTP/1.1 for a while, because HTTP/2 failed.
struct HTTP1Origins {
    private static let lifetime: Duration = .seconds(3600)

    private var ends: [String: ContinuousClock.Instant] = [:]
    /// The size above which expired origins are removed.
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
