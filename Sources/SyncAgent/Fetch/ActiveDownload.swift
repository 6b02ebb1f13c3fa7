// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import DequeModule
import Fleet
import HTTPRules
import Transfers

/// A download in flight, with what has arrived of its body.
///
/// It is confined to the thread of the downloads.
final class ActiveDownload: TransferReceiver {
    /// How much of an unwanted body is read, and for how long, so that its connection can be reused.
    private static let drainLimit = (bytes: 64 << 10, time: Duration.seconds(1))
    /// How much of a body is held in memory; larger ones go to a file.
    private static let heldLimit = 1 << 20
    /// How much of a body is held while it goes to a file.
    private static let pieceLimit = 256 << 10

    let request: FetchRequest
    var deadline: Deadline
    let begun = ContinuousClock.now
    let limits: RequestLimits
    private let limit: ByteCount
    private let clock: AgentClock
    private let turn: TurnRequests

    /// The state of its requests and redirects; `nil` for a `data:` URL.
    var steps: Download?
    var transfer: (any Transfer)? {
        willSet { deadline.recordEnd(of: transfer) }
    }
    /// Why the route of the current request leaves an address out; `nil` if it leaves none out.
    var refusal: AddressPolicy.Refusal?
    /// Since when the origin was limited to HTTP/1.1 as the current request was sent; `nil` if it was not.
    var http1Start: ContinuousClock.Instant?
    /// Whether a part of the image is on disk.
    var hasPart = false
    /// The part that responses of this download have extended; `nil` if none has.
    private var reached: PartialDownload?
    /// Whether a request was repeated because its reused connection was stale.
    var hasRetried = false
    /// Why it was given up, if it was.
    var givenUp: (any Error)?
    /// Whether it has ended; later data is ignored.
    var hasEnded = false

    // MARK: The current response

    /// The next step after the head of the response; `nil` until it arrives.
    private(set) var step: Download.Step?
    /// When the step is taken even if an unwanted body is still arriving.
    private(set) var drainEnd: ContinuousClock.Instant?
    private var drained = 0

    /// Body bytes that are not in a file yet.
    private(set) var held: [UInt8] = []
    /// Bytes of the image so far, including those of earlier attempts.
    private(set) var count = 0
    /// Body bytes received in all responses.
    private(set) var received = 0
    private(set) var isStreamed = false
    /// How the body ended; `nil` while it goes on.
    private(set) var bodyEnd: Result<Void, any Error>?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ request: FetchRequest, _ settings: Settings, clock: AgentClock, turn: TurnRequests) {
        self.request = request
        limits = request.copy == nil ? settings.fetch.limits : settings.upstream.limits
        deadline = Deadline(limits, from: begun)
        limit =
            request.copy.map { min(settings.fetch.maxBytes, ByteCount($0.bytes)) } ?? settings.fetch.maxBytes
        self.clock = clock
        self.turn = turn
    }

    var url: IconURL { request.url }

    func restart() {
        step = nil
        drainEnd = nil
        drained = 0
        forgetHeld()
        count = 0
        isStreamed = false
        bodyEnd = nil
    }

    /// Switches to the request for what the last response left out of the rest.
    func goOn(from partial: PartialDownload) {
        step = steps?.goOn(from: partial)
        isStreamed = false
        reached = partial
        // The server may have closed the connection between its responses.
        hasRetried = false
    }

    /// Whether a failure is that of a response to a request for the rest which no other request need have.
    func isUnreadableRest(_ failure: any Error) -> Bool {
        guard let failure = failure as? FetchFailure, failure.code == .fetch(.protocolViolation) else { return false }
        return steps?.hasAskedForRest == true && !failure.leavesPart
    }

    /// Switches from requesting the rest of an image to the whole; returns whether that is possible.
    func askForWhole() -> Bool {
        guard givenUp == nil, let next = try? steps?.askForWhole() else { return false }
        step = next
        isStreamed = false
        reached = nil
        return true
    }

    // MARK: The body

    func receive(_ head: ResponseHead) -> Bool {
        guard let next = steps?.answered(head, now: clock.now) else { return false }
        step = next
        if case .discardPartial = next { reached = nil }
        guard case .take(let body) = next else {
            drainEnd = .now + Self.drainLimit.time
            turn.check = turn.check ?? drainEnd
            return head.fields["content-length"].first.flatMap { Int($0) } ?? 0 <= Self.drainLimit.bytes
        }
        if hasPart {
            // The rest is appended to the part, or the whole image replaces it.
            if body.length != nil { count = body.partial?.bytes ?? 0 }
            stream()
        } else if let announced = body.announced, announced <= Self.heldLimit {
            held.reserveCapacity(announced)
        }
        return true
    }

    /// Whether to save the bytes in memory as a partial image, so that a later attempt requests only the rest.
    func leavesPart(after error: any Error) -> Bool {
        guard case .take(let body) = step, var part = body.partial, !isStreamed, !isComplete else { return false }
        part.bytes = count
        return isCut(by: error) && part.canGoOn(at: clock.now)
    }

    private var isComplete: Bool { if case .success = bodyEnd { true } else { false } }

    /// Whether an error says nothing about the bytes that have arrived.
    func isCut(by error: any Error) -> Bool {
        error is CancellationError || (error as? FetchFailure)?.leavesPart == true
    }

    /// Where a failure cut the image off; `nil` if it did not, or if the request was not for the origin's image.
    ///
    /// If pieces have come, whatever fails after them ends the image there.
    func cut(by failure: FetchFailure) -> FetchFailure.Cut? {
        guard request.copy == nil else { return nil }
        guard case .take(let body) = step else {
            guard failure.leavesPart, let reached else { return nil }
            return FetchFailure.Cut(
                end: reached.bytes, length: reached.length, isWhole: false, isKept: reached.canGoOn(at: clock.now))
        }
        guard failure.mayBeCut, count > 0 else { return nil }
        var part = isCut(by: failure) && !isComplete ? body.partial : nil
        part?.bytes = count
        return FetchFailure.Cut(
            end: count, length: body.length ?? body.announced, isWhole: body.length == nil,
            isKept: part?.canGoOn(at: clock.now) ?? false)
    }

    private func stream() {
        isStreamed = true
        turn.streams.append(self)
    }

    /// Ends a body whose bytes in memory will be saved as a partial image.
    func leavePart(after error: any Error) {
        isStreamed = true
        endBody(.failure(error))
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        guard case .take = step else {
            turn.spend(bytes.count)
            received += bytes.count
            drained += bytes.count
            return drained <= Self.drainLimit.bytes ? .taken : .refused
        }
        if isStreamed, !held.isEmpty, held.count + bytes.count > Self.pieceLimit {
            wake()
            return .later
        }
        if let transfer, !turn.mayReceive(transfer) {
            deadline.beginTurnWait()
            return .later
        }
        deadline.endTurnWait()
        turn.spend(bytes.count)
        received += bytes.count
        count += bytes.count
        guard count <= limit.bytes else {
            // A file longer than the manifest states cannot be the expected one.
            let isOther = request.copy.map { $0.bytes == limit.bytes } ?? false
            endBody(.failure(isOther ? FetchFailure.copyMismatch : FetchFailure.tooLarge(limit: limit)))
            return .refused
        }
        held.append(contentsOf: bytes)
        turn.held += bytes.count
        if !isStreamed, held.count > Self.heldLimit || held.count > PartialDownload.smallest.bytes && turn.isFull {
            stream()
        }
        return .taken
    }

    func receiveEnd(_ failure: (any Error)?) {
        turn.ended.append((self, failure))
    }

    /// Records how the body ended; later calls have no effect.
    func endBody(_ end: Result<Void, any Error>) {
        if bodyEnd == nil { bodyEnd = end }
        wake()
    }

    /// Removes the bytes that are not in a file yet; they are counted until ``release(_:)``.
    func dequeueHeld() -> [UInt8] { exchange(&held, with: []) }

    /// Stops counting dequeued bytes: they are in a file or in ``StagedImages``, or dropped.
    func release(_ bytes: [UInt8]) { turn.held -= bytes.count }

    /// Drops the bytes that are not in a file yet.
    func forgetHeld() {
        turn.held -= held.count
        held = []
    }

    /// Waits until there are bytes to write or the body has ended.
    func waitForBytes(isolation: isolated Downloads) async {
        guard bodyEnd == nil, held.isEmpty else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}

/// What the downloads need from the next turn, and what they hold in memory.
final class TurnRequests {
    /// How much all of them hold before larger bodies go to files early.
    private static let heldLimit = 32 << 20

    /// The bytes that are in no file yet.
    var held = 0
    var isFull: Bool { held > Self.heldLimit }
    /// Downloads whose transfer has ended, with the failure if it is incomplete.
    var ended: [(download: ActiveDownload, failure: (any Error)?)] = []
    /// Downloads that became too large for memory.
    var streams: [ActiveDownload] = []
    var check: ContinuousClock.Instant?

    func reset() { (ended, streams, check) = ([], [], nil) }

    // MARK: The limit on the rate

    /// The limit on the bytes of all bodies; `nil` if there is none.
    private var limit: RateLimit?
    /// The transfers that are paused until it is their turn, the next one first.
    private var waiting: Deque<any Transfer> = []
    private var resumed: (any Transfer)?

    /// Sets the limit, in bytes a second; `nil` for none.
    func setRate(_ rate: ByteCount?) {
        if limit?.rate != rate { limit = rate.map { RateLimit($0, at: .now) } }
    }

    /// Whether a transfer may receive a part now; if not, it gets a turn after those that wait already.
    func mayReceive(_ transfer: any Transfer) -> Bool {
        guard limit != nil else { return true }
        if waiting.isEmpty || resumed === transfer, limit?.isOpen(at: .now) == true { return true }
        if !waiting.contains(where: { $0 === transfer }) { waiting.append(transfer) }
        return false
    }

    /// Counts received bytes.
    func spend(_ bytes: Int) { limit?.spend(bytes) }

    /// Resumes transfers whose turn it is; they receive what they were paused with.
    func resumeWaiting(at now: ContinuousClock.Instant) {
        while limit?.isOpen(at: now) ?? true, let next = waiting.popFirst() {
            resumed = next
            next.resume()
        }
        resumed = nil
    }

    /// When the next transfer may be resumed; `nil` if none waits.
    var opening: ContinuousClock.Instant? { waiting.isEmpty ? nil : limit?.opening }
}
