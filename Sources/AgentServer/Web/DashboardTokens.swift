// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Synchronization

/// Access tokens for the dashboard, kept in memory only.
///
/// They are compared by digest, so that the time for it does not depend on where a wrong token differs from a valid one.
final class DashboardTokens: Sendable {
    /// The number of random bytes in a token.
    private static let size = 32

    private let tokens = Mutex<[Digest: Access]>([:])

    /// Makes a token, the digest of 256 random bits (64 hexadecimal digits), valid until it is removed.
    func add(_ access: Access) -> String {
        // The system's generator reads getrandom(2).
        var system = SystemRandomNumberGenerator()
        let token = Digest.of((0..<Self.size).map { _ in UInt8.random(in: 0...255, using: &system) }).hex
        tokens.withLock { $0[.of(token)] = access }
        return token
    }

    func remove(_ token: String) { tokens.withLock { $0[.of(token)] = nil } }

    /// The access that a token gives; `nil` if it is invalid.
    func access(with token: String) -> Access? { tokens.withLock { $0[.of(token)] } }
}
