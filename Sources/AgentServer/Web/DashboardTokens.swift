// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Access tokens for the dashboard, kept in memory only.
final class DashboardTokens: Sendable {
    private static let size = 32

    private let tokens = Mutex<[(bytes: [UInt8], access: Access)]>([])

    /// Makes a token of 256 random bits (64 hexadecimal digits), valid until it is removed.
    func add(_ access: Access) -> String {
        // The system's generator reads getrandom(2).
        var system = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let bytes = (0..<2 * Self.size).map { _ in digits[Int.random(in: 0..<16, using: &system)] }
        tokens.withLock { $0.append((bytes, access)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func remove(_ token: String) {
        tokens.withLock { $0.removeAll { $0.bytes == Array(token.utf8) } }
    }

    /// The access that a token gives; `nil` if it is invalid.
    ///
    /// The time for this does not depend on where a wrong token differs from a valid one.
    func access(with token: String) -> Access? {
        let given = Array(token.utf8)
        return tokens.withLock { tokens in
            var access: Access?
            for token in tokens where Self.areEqual(token.bytes, given) { access = token.access }
            return access
        }
    }

    private static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
