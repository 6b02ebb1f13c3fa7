// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import SyncAgent
import Synchronization

/// Bounds the memory of responses that clients have not read yet.
///
/// A response is written as a whole, and a client may take half a minute to read it.
final class AnswerMemory: Sendable {
    /// The limit on the sum of bytes; a single response may exceed it.
    private static let limit = 32 << 20
    /// Smaller responses are not counted: they fit into the connection's buffers.
    private static let small = 16 << 10

    /// The peak from which the heap is trimmed afterwards.
    private static let large = 4 << 20

    private let used = Mutex((now: 0, most: 0))

    /// A response's bytes, until it is written or dropped.
    private final class Share: Sendable {
        let bytes: Int
        let memory: AnswerMemory

        init(_ bytes: Int, of memory: AnswerMemory) { (self.bytes, self.memory) = (bytes, memory) }

        deinit {
            let isLarge = memory.used.withLock { used in
                used.now -= bytes
                guard used.now == 0 else { return false }
                defer { used.most = 0 }
                return used.most >= AnswerMemory.large
            }
            if isLarge { HeapTrimmer.trimSoon() }
        }
    }

    /// Counts a response until it is written or dropped.
    ///
    /// - Throws: ``APIError/busy`` if there is no room for it.
    func count(_ response: Response) throws(APIError) -> Response {
        guard let bytes = response.body.contentLength, bytes > Self.small else { return response }
        let hasRoom = used.withLock { used in
            guard used.now == 0 || used.now + bytes <= Self.limit else { return false }
            used.now += bytes
            used.most = max(used.most, used.now)
            return true
        }
        guard hasRoom else { throw .busy }
        return response.holding(Share(bytes, of: self))
    }
}

extension Response {
    /// The same response; keeps an object alive until its body is written or dropped.
    func holding(_ object: some AnyObject & Sendable) -> Response {
        let body = body
        var response = self
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { withExtendedLifetime(object) {} }
            try await body.write(writer)
        }
        return response
    }
}
