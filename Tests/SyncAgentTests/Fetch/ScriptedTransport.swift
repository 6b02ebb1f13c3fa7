// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import SyncAgent
import SyncPlan
import Synchronization

/// A transport that answers from a table or a script, without a network.
final class ScriptedTransport: Transport {
    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: [UInt8]
        /// Whether the connection ends after the body.
        var isCut: Bool

        init(_ status: Int, _ headers: HTTPHeaders = [:], body: [UInt8] = [], isCut: Bool = false) {
            self.status = status
            self.headers = headers
            self.body = body
            self.isCut = isCut
        }
    }

    private let script: @Sendable (_ url: String, _ number: Int) -> Answer?
    private let log = Mutex<[(url: String, headers: HTTPHeaders)]>([])

    /// A transport with one answer for each URL; there is no connection to the others.
    convenience init(_ answers: [String: Answer]) {
        self.init { url, _ in answers[url] }
    }

    /// A transport that asks for each answer by the URL and how many requests there were, this one included.
    init(_ script: @escaping @Sendable (_ url: String, _ number: Int) -> Answer?) {
        self.script = script
    }

    func proxy(for target: FetchTarget) -> Proxy? { nil }

    /// What was asked for, in order.
    var requests: [(url: String, headers: HTTPHeaders)] { log.withLock(\.self) }

    func get(_ target: FetchTarget, headers: HTTPHeaders) async throws -> TransportResponse {
        let number = log.withLock { log in
            log.append((target.url, headers))
            return log.count
        }
        guard let answer = script(target.url, number) else { throw FetchFailure("connect", "no connection", .passing) }
        return TransportResponse(
            status: answer.status, headers: answer.headers, body: Chunks(bytes: answer.body, isCut: answer.isCut))
    }

    /// A body in pieces of 1000 bytes.
    private struct Chunks: AsyncSequence, Sendable {
        typealias Failure = any Error
        let bytes: [UInt8]
        let isCut: Bool

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>
            let isCut: Bool

            mutating func next() async throws -> ByteBuffer? {
                guard !rest.isEmpty else {
                    if isCut { throw FetchFailure("connection-closed", "the connection broke", .passing) }
                    return nil
                }
                defer { rest = rest.dropFirst(1000) }
                return ByteBuffer(bytes: rest.prefix(1000))
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...], isCut: isCut) }
    }
}
