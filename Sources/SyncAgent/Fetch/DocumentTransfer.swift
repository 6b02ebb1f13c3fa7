// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Transfers

/// A request for an upstream's document, with the body in memory.
///
/// It is confined to the thread of the downloads.
final class DocumentTransfer: TransferReceiver {
    let limits: RequestLimits
    var deadline: Deadline
    private let clock: AgentClock
    private let turn: TurnRequests
    private let sent: Timestamp
    private let maxBytes: Int
    /// Whether it waits for its turns under ``Settings/Fetch/maxRate``.
    let takesTurns: Bool
    var transfer: (any Transfer)? {
        willSet { deadline.recordEnd(of: transfer) }
    }
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var refusal: FetchFailure?
    private var waiter: CheckedContinuation<Downloads.Document, any Error>?
    private var end: Result<Downloads.Document, any Error>?

    var hasEnded: Bool { end != nil }

    init(limits: RequestLimits, maxBytes: Int, takesTurns: Bool, clock: AgentClock, turn: TurnRequests) {
        self.turn = turn
        self.limits = limits
        self.clock = clock
        sent = clock.now
        self.maxBytes = maxBytes
        self.takesTurns = takesTurns
        deadline = Deadline(limits)
    }

    func receive(_ head: ResponseHead) -> Bool {
        self.head = head
        // Bodies of other responses are not read, so what their heads say about them is ignored.
        guard head.isWhole else { return false }
        do throws(FetchFailure) {
            if let length = try head.bodyLength() {
                if length > maxBytes { refusal = tooLarge } else { body.reserveCapacity(length) }
            }
        } catch {
            refusal = error
        }
        return refusal == nil
    }

    /// Documents that take no turns count nevertheless: the images after them wait longer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        if takesTurns, let transfer, !turn.mayReceive(transfer) {
            deadline.beginTurnWait()
            return .later
        }
        deadline.endTurnWait()
        turn.spend(bytes.count)
        guard body.count + bytes.count <= maxBytes else {
            refusal = tooLarge
            return .refused
        }
        body.append(contentsOf: bytes)
        return .taken
    }

    private var tooLarge: FetchFailure {
        FetchFailure(.tooLarge, "the document is larger than \(maxBytes >> 20) MiB", .passing)
    }

    func receiveEnd(_ failure: (any Error)?) {
        transfer = nil
        if let refusal {
            finish(.failure(refusal))
        } else if let head, !head.isWhole {
            finish(.success(document(head, [])))
        } else if let failure {
            finish(.failure(failure))
        } else if let head {
            finish(.success(document(head, body)))
        } else {
            finish(.failure(FetchFailure.protocolViolation("a response without a head")))
        }
    }

    private func document(_ head: ResponseHead, _ body: [UInt8]) -> Downloads.Document {
        Downloads.Document(head: head, body: body, sent: sent, received: clock.now)
    }

    func finish(_ result: Result<Downloads.Document, any Error>) {
        guard end == nil else { return }
        end = result
        body = []
        waiter?.resume(with: result)
        waiter = nil
    }

    func wait(isolation: isolated Downloads) async throws -> Downloads.Document {
        if let end { return try end.get() }
        return try await withCheckedThrowingContinuation { waiter = $0 }
    }
}
