// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import SyncAgent
import SyncPlan
import Synchronization

/// A transport that answers from a table, without a network.
final class ScriptedTransport: Transport {
    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: [UInt8]

        init(_ status: Int, _ headers: HTTPHeaders = [:], body: [UInt8] = []) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    private let answers: [String: Answer]
    private let log = Mutex<[(url: String, headers: HTTPHeaders)]>([])

    /// A transport with one answer for each URL; there is no connection to the others.
    init(_ answers: [String: Answer]) {
        self.answers = answers
    }

    func proxy(for target: FetchTarget) -> Proxy? { nil }

    /// What was asked for, in order.
    var requests: [(url: String, headers: HTTPHeaders)] { log.withLock(\.self) }

    func get(_ target: FetchTarget, headers: HTTPHeaders) async throws -> TransportResponse {
        log.withLock { $0.append((target.url, headers)) }
        guard let answer = answers[target.url] else { throw FetchFailure("connect", "no connection", .passing) }
        return TransportResponse(status: answer.status, headers: answer.headers, body: Chunks(bytes: answer.body))
    }

    /// A body in pieces of 1000 bytes.
    private struct Chunks: AsyncSequence, Sendable {
        typealias Failure = any Error
        let bytes: [UInt8]

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>

            mutating func next() async throws -> ByteBuffer? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(1000) }
                return ByteBuffer(bytes: rest.prefix(1000))
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...]) }
    }
}
