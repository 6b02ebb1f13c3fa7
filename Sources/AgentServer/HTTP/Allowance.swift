// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import SyncAgent
import Synchronization

/// Limits the memory of responses that clients have not read yet, in bytes, or the number of a listener's streams.
///
/// A response is written as a whole, and a client may take half a minute to read it.
final class Allowance: Sendable {
    /// The size of responses below which the heap is trimmed, in bytes, if they took more before.
    private static let large = 4 << 20

    private let limit: Int
    private let used = Mutex(0)

    init(_ limit: Int) { self.limit = limit }

    /// An allowance of memory: 32 MiB.
    static var memory: Allowance { Allowance(32 << 20) }

    /// The part of the allowance that one response takes.
    private final class Share: Sendable {
        let amount: Int
        let allowance: Allowance

        init(_ amount: Int, of allowance: Allowance) { (self.amount, self.allowance) = (amount, allowance) }

        deinit {
            let (before, after) = allowance.used.withLock { used in
                used -= amount
                return (used + amount, used)
            }
            if before >= large, after < large { HeapTrimmer.trimSoon() }
        }
    }

    /// Counts a response until its body is written or dropped; a single one may exceed the limit.
    ///
    /// - Throws: ``APIError/busy`` if there is no room for it.
    func count(_ response: Response, as amount: Int) throws(APIError) -> Response {
        let hasRoom = used.withLock { used in
            guard used == 0 || used + amount <= limit else { return false }
            used += amount
            return true
        }
        guard hasRoom else { throw .busy }
        let (share, body) = (Share(amount, of: self), response.body)
        var response = response
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { withExtendedLifetime(share) {} }
            try await body.write(writer)
        }
        return response
    }
}
