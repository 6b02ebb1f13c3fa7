// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPRules
import NIOHTTP1
import SyncAgent
import SyncPlan
import Synchronization
import Transfers

/// A transport that answers from a table or a script, without a network.
final class ScriptedTransport: Transport, Sendable {
    struct Answer: Sendable, CustomStringConvertible {
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

        var description: String { "\(status), \(headers), \(body.count) bytes\(isCut ? ", cut" : "")" }
    }

    private final class ScriptedTransfer: Transfer {
        let receiver: any TransferReceiver
        let answer: Answer?
        private var rest: ArraySlice<UInt8>
        private var hasBegun = false
        private(set) var isPaused = false
        private(set) var hasEnded = false
        var lastActivity: ContinuousClock.Instant?
        let mayBeStale = false
        var isAnswered: Bool { hasBegun }

        init(_ receiver: any TransferReceiver, _ answer: Answer?) {
            self.receiver = receiver
            self.answer = answer
            rest = answer?.body[...] ?? []
        }

        func cancel() { hasEnded = true }

        func waitTime(at now: ContinuousClock.Instant) -> Duration { .zero }

        func resume() { isPaused = false }

        func breakOff(afterSilenceOf time: Duration) { cancel() }

        /// Hands over what there is: the body in pieces of 1000 bytes.
        ///
        /// - Returns: How it ended, if it did.
        func goOn() -> Result<Void, any Error>? {
            guard let answer else { return .failure(FetchFailure(.connect, "no connection")) }
            lastActivity = .now
            if !hasBegun {
                hasBegun = true
                let fields = HTTPFields(answer.headers.map { (name: $0.name, value: $0.value) })
                guard receiver.receive(ResponseHead(status: answer.status, fields: fields)) else {
                    return .failure(Unwanted())
                }
            }
            while !rest.isEmpty {
                switch rest.prefix(1000).withUnsafeBytes({ receiver.receive($0) }) {
                case .taken: rest = rest.dropFirst(1000)
                case .later:
                    isPaused = true
                    return nil
                case .refused: return .failure(Unwanted())
                }
            }
            guard answer.isCut else { return .success(()) }
            return .failure(FetchFailure(.connectionClosed, "the connection broke"))
        }
    }

    private let script: @Sendable (_ url: String, _ number: Int) -> Answer?
    private let log = Mutex<[(url: String, headers: HTTPHeaders)]>([])
    /// Only the thread of the transfers has them.
    private nonisolated(unsafe) var begun: [ScriptedTransfer] = []

    private var transfers: [ScriptedTransfer] { begun.filter { !$0.hasEnded } }

    /// A transport with one answer for each URL; there is no connection to the others.
    convenience init(_ answers: [String: Answer]) {
        self.init { url, _ in answers[url] }
    }

    /// A transport that asks for each answer by the URL and how many requests there were, this one included.
    init(_ script: @escaping @Sendable (_ url: String, _ number: Int) -> Answer?) {
        self.script = script
    }

    /// What was asked for, in order.
    var requests: [(url: String, headers: HTTPHeaders)] { log.withLock(\.self) }

    func configure(_ options: TransferOptions) {}

    func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> any Transfer {
        let headers = HTTPHeaders(request.fields.map { ($0.name, $0.value) })
        let number = log.withLock { log in
            log.append((request.url, headers))
            return log.count
        }
        let transfer = ScriptedTransfer(receiver, script(request.url, number))
        begun = transfers + [transfer]
        return transfer
    }

    func perform() {
        for transfer in transfers where !transfer.isPaused {
            guard let end = transfer.goOn() else { continue }
            transfer.cancel()
            switch end {
            case .success: transfer.receiver.receiveEnd(nil)
            case .failure(let error): transfer.receiver.receiveEnd(error)
            }
        }
    }

    func wait(for descriptor: Int32, atMost time: Duration?) {
        guard transfers.allSatisfy(\.isPaused) else { return }
        var bell = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&bell, 1, Int32(min(time ?? .seconds(60), .seconds(60)) / .milliseconds(1)) + 1)
    }

    func closeConnections() {}

    var isIdle: Bool { transfers.isEmpty }

    var hasConnections: Bool { false }
}
