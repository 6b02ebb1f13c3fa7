// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Synchronization

/// Bounds the memory of answers that clients have not read yet: an answer is written as a whole, and a client may take
/// half a minute to read it.
final class AnswerMemory: Sendable {
    /// The most bytes at once, but for a single answer.
    private static let limit = 32 << 20
    /// What is not counted: the buffers of a connection take it.
    private static let small = 16 << 10

    private let used = Mutex(0)

    /// The bytes of an answer, until it is written or dropped.
    private final class Share: Sendable {
        let bytes: Int
        let memory: AnswerMemory

        init(_ bytes: Int, of memory: AnswerMemory) { (self.bytes, self.memory) = (bytes, memory) }

        deinit { memory.used.withLock { $0 -= bytes } }
    }

    /// Counts an answer until it is written.
    ///
    /// - Throws: ``APIError/busy`` if there is no room for it.
    func count(_ response: Response) throws(APIError) -> Response {
        guard let bytes = response.body.contentLength, bytes > Self.small else { return response }
        let hasRoom = used.withLock { used in
            guard used == 0 || used + bytes <= Self.limit else { return false }
            used += bytes
            return true
        }
        guard hasRoom else { throw .busy }
        let share = Share(bytes, of: self)
        let body = response.body
        var response = response
        response.body = ResponseBody(contentLength: bytes) { writer in
            defer { withExtendedLifetime(share) {} }
            try await body.write(writer)
        }
        return response
    }
}
