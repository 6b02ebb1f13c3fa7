// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import SyncPlan
import Transfers

/// A download under way, with what has come of its body.
///
/// It belongs to the thread of the downloads.
final class ActiveDownload: TransferReceiver {
    /// How much of a body that nobody wants is read, so that its connection can be used again, and for how long.
    private static let drainLimit = (bytes: 64 << 10, time: Duration.seconds(1))
    /// How much of a body is held in memory; more goes to a file.
    private static let heldLimit = PartialDownload.smallest.bytes

    let request: FetchRequest
    /// When it is given up.
    let deadline: ContinuousClock.Instant
    let begun = ContinuousClock.now
    let limits: RequestLimits
    private let limit: ByteCount
    private let clock: AgentClock
    private let turn: TurnRequests

    /// What is decided of it; `nil` for an image that its URL carries.
    var steps: Download?
    /// The transfer under way.
    var transfer: (any Transfer)?
    /// Whether a request went out again because its connection had been kept for too long.
    var hasRetried = false
    /// Why it was given up, if it was.
    var givenUp: (any Error)?
    /// Whether it has ended, whatever is still to come of it.
    var hasEnded = false

    // MARK: The present answer

    /// What follows from the head of the answer; `nil` as long as there is none.
    private(set) var step: Download.Step?
    /// When the step is taken even if a body that nobody wants goes on.
    private(set) var drainEnd: ContinuousClock.Instant?
    private var drained = 0

    /// What has come of the body, and is in no file.
    private(set) var held: [UInt8] = []
    /// How many bytes there are, those of earlier attempts included.
    private(set) var count = 0
    /// How many bytes of bodies came, of all answers.
    private(set) var received = 0
    /// Whether the body goes to a file.
    private(set) var isStreamed = false
    /// How the body ended; `nil` as long as it goes on.
    private(set) var bodyEnd: Result<Void, any Error>?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ request: FetchRequest, _ settings: Settings, clock: AgentClock, turn: TurnRequests) {
        self.request = request
        limits = request.copy == nil ? settings.fetch.limits : settings.upstream.limits
        deadline = begun + limits.totalTimeout
        limit =
            request.copy.map { min(settings.fetch.maxBytes, ByteCount($0.bytes)) } ?? settings.fetch.maxBytes
        self.clock = clock
        self.turn = turn
    }

    var url: IconURL { request.url }

    /// Gets ready for the next request.
    func restart() {
        step = nil
        drainEnd = nil
        drained = 0
        held.removeAll(keepingCapacity: true)
        count = 0
        isStreamed = false
        bodyEnd = nil
    }

    /// Has the whole image asked for, where the rest of one was.
    ///
    /// - Returns: Whether it may be.
    func askForWhole() -> Bool {
        guard givenUp == nil, let next = try? steps?.askForWhole() else { return false }
        step = next
        isStreamed = false
        return true
    }

    // MARK: The body

    func take(_ head: ResponseHead) -> Bool {
        guard let next = steps?.answered(head, now: clock.now) else { return false }
        step = next
        guard case .take(let body) = next else {
            drainEnd = .now + Self.drainLimit.time
            turn.check = turn.check ?? drainEnd
            return head.fields["content-length"].first.flatMap { Int($0) } ?? 0 <= Self.drainLimit.bytes
        }
        if body.length != nil {
            count = body.partial?.bytes ?? 0
            stream()
        } else if let announced = body.announced, announced <= Self.heldLimit {
            held.reserveCapacity(announced)
        }
        return true
    }

    private func stream() {
        isStreamed = true
        turn.streams.append(self)
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Reception {
        guard case .take = step else {
            received += bytes.count
            drained += bytes.count
            return drained <= Self.drainLimit.bytes ? .taken : .refused
        }
        if isStreamed, held.count + bytes.count > Self.heldLimit {
            wake()
            return .later
        }
        received += bytes.count
        count += bytes.count
        guard count <= limit.bytes else {
            // What is longer than an upstream's manifest says is another file.
            let isOther = request.copy.map { $0.bytes == limit.bytes } ?? false
            endBody(.failure(isOther ? FetchFailure.copyMismatch : FetchFailure.tooLarge(limit: limit)))
            return .refused
        }
        held.append(contentsOf: bytes)
        if !isStreamed, held.count > Self.heldLimit { stream() }
        return .taken
    }

    /// Takes note that no more of the body comes; what ended it first counts.
    func endBody(_ end: Result<Void, any Error>) {
        if bodyEnd == nil { bodyEnd = end }
        wake()
    }

    /// Takes what has come and is in no file.
    func takeHeld() -> [UInt8] {
        defer { held = [] }
        return held
    }

    /// Waits until there is enough to write, or the body has ended.
    func more(isolation: isolated Downloads) async {
        guard bodyEnd == nil, held.isEmpty else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}

/// What the downloads want of the next turn.
final class TurnRequests {
    /// Those that turned out to be too large for the memory.
    var streams: [ActiveDownload] = []
    /// When the limits on time are to be looked at.
    var check: ContinuousClock.Instant?
}
