// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Dispatch
package import Logging
package import Reports
import Synchronization
package import SystemPackage

/// The event journal: the newest few megabytes of events, in files of the state folder that survive a restart.
///
/// A thread of its own writes events, and readers see an event only once it is written. A reader needs no memory here:
/// it is a position in the files. Numbers only grow; the numbers of missing events are skipped, and readers get a gap
/// (``EventGap``) for them. If the files cannot be written, the agent continues without them.
package final class EventJournal: Sendable {
    package static let files = EventRing.names + [EventNumbers.file]
    /// The size in bytes at which the next file is started.
    package static let segmentBytes = 2 << 20
    /// The number of queued events above which events of icons are dropped.
    package static let mostPending = 100_000
    private static let batchBytes = 1 << 16
    /// The interval between retries of a failed write, while no new event comes.
    package static let retryInterval = Duration.seconds(30)

    private struct Pending {
        /// Batches of events, each with the number of events dropped before it.
        var batches: [(time: Timestamp, events: [AgentEvent], dropped: Int)] = []
        var count = 0
        /// The number of events dropped after the last batch.
        var dropped = 0
    }

    /// What only the writing thread uses.
    struct Output {
        /// The newest file; `nil` if it is not open.
        var file: FileDescriptor?
        /// The whole lines to write next.
        var text: [UInt8] = []
        /// The number of the first event in `text`.
        var first = 0
        /// The number of the next event.
        var next: Int
        /// The mark to write before `text`.
        var mark: EventMark?
        /// The highest reserved number; `nil` if the reservation must be written again.
        var limit: Int?
        var isClosed = false

        mutating func add(_ line: String) {
            if text.isEmpty { first = next }
            text.append(contentsOf: line.utf8)
        }
    }

    let folder: FilePath
    let segmentBytes: Int
    private let mostPending: Int
    private let retryInterval: Duration
    /// The kernel's boot ID; `nil` if it is unknown.
    let boot: String?
    private let logger: Logger
    let ring: Mutex<EventRing>
    let feed = ChangeFeed()
    private let pending = Mutex(Pending())
    private let output: Mutex<Output>
    let writing = DispatchQueue(label: "syncagent.events")
    let reading = DispatchQueue(label: "syncagent.events.read")

    /// Opens the journal for writing; there must be only one writer.
    package init(
        in folder: FilePath, segmentBytes: Int = segmentBytes, mostPending: Int = mostPending,
        retryInterval: Duration = retryInterval, boot: String?? = .none, logger: Logger
    ) {
        self.folder = folder
        self.segmentBytes = segmentBytes
        self.mostPending = mostPending
        self.retryInterval = retryInterval
        self.boot = boot ?? BootID.current
        self.logger = logger
        let found = FoundEvents(in: folder)
        let mark = found.mark(boot: self.boot)
        if found.isDamaged {
            logger.warning(
                "event journal damaged: events are missing",
                metadata: ["folder": "\(folder)", "newest": "\(found.ring.newest)", "next": "\(mark.first)"])
        }
        ring = Mutex(found.ring)
        output = Mutex(Output(next: mark.first, mark: mark))
    }

    /// Opens the journal of an agent that is not running, for reading.
    package convenience init(reading folder: FilePath) {
        self.init(in: folder, logger: Logger(label: "events") { _ in SwiftLogNoOpLogHandler() })
        output.withLock { $0.isClosed = true }
        feed.end()
    }

    /// The reason why events cannot be written, as a clause; `nil` if they can.
    package var failure: String? { ring.withLock(\.failure) }

    /// The number of the newest event; 0 if there never was one.
    package var newest: Int { ring.withLock(\.newest) }

    // MARK: Writing

    /// Queues events for writing.
    ///
    /// Above a limit of queued events, events of icons are dropped; above twice that, for example because a disk hangs,
    /// all events are.
    package func append(_ events: [AgentEvent], at time: Timestamp) {
        guard !events.isEmpty else { return }
        let isFirst = pending.withLock { pending in
            let isFirst = pending.batches.isEmpty && pending.dropped == 0
            var kept = events
            // A single large turn of the plan may exceed the limit: all its events are written.
            if pending.count > 0, pending.count + events.count > mostPending {
                kept = pending.count < 2 * mostPending ? events.filter { !$0.kind.isOfIcon } : []
            }
            pending.dropped += events.count - kept.count
            if !kept.isEmpty {
                pending.batches.append((time, kept, pending.dropped))
                pending.count += kept.count
                pending.dropped = 0
            }
            return isFirst
        }
        if isFirst { writing.async { [self] in writePending() } }
    }

    /// Writes queued events, marks the journal as complete, and ends its readers.
    ///
    /// It waits for at most one second: a hung disk must not keep the agent from ending.
    package func close() async {
        await wait(atMost: .seconds(1)) { [self] in
            let (done, end) = AsyncStream.makeStream(of: Void.self)
            writing.async { [self] in
                writePending()
                output.withLock { finish(&$0) }
                end.finish()
            }
            for await _ in done {}
        }
        feed.end()
    }

    private func writePending() {
        let batches = pending.withLock { pending in
            defer { pending = Pending() }
            pending.batches.append((.distantPast, [], pending.dropped))
            return pending.batches
        }
        let allDropped = batches.reduce(0) { $0 + $1.dropped }
        if allDropped > 0 {
            logger.warning("too many events at once: events are dropped", metadata: ["events": "\(allDropped)"])
        }
        output.withLock { output in
            guard !output.isClosed else { return }
            for (time, events, dropped) in batches {
                if dropped > 0 {
                    // The mark tells readers at once that these are missing.
                    output.next += dropped
                    output.add(EventMark(first: output.next, boot: boot, after: .tooMany).line)
                }
                let time = "\(time)"
                for event in events {
                    output.add(event.line(id: output.next, time: time))
                    output.next += 1
                    if output.text.count >= Self.batchBytes { write(&output) }
                }
            }
            write(&output)
        }
    }

    /// Writes whole lines and shows them to readers; on failure, drops them, and prepares a mark in their place.
    private func write(_ output: inout Output) {
        guard !output.text.isEmpty || failure != nil else { return }
        do {
            try open(&output)
            try reserveNumbers(&output)
            try append((output.mark.map { Array($0.line.utf8) } ?? []) + output.text, &output)
            output.mark = nil
            if failure != nil { logger.notice("events are written again") }
            ring.withLock { ($0.newest, $0.failure) = (output.next - 1, nil) }
            feed.emit()
        } catch {
            if failure == nil {
                logger.warning(
                    "cannot write the event journal: events are dropped",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"])
                tryLater()
            }
            output.mark = EventMark(first: output.next, boot: boot, after: output.mark?.after ?? .notWritten)
            output.first = output.next
            ring.withLock { $0.failure = "events cannot be written in \(folder): \(error)" }
        }
        output.text.removeAll()
    }

    /// Retries the write at intervals, until it succeeds.
    ///
    /// Without retries, an agent without new events would report the failure forever.
    private func tryLater() {
        writing.asyncAfter(deadline: .now() + .milliseconds(Int(retryInterval / .milliseconds(1)))) { [weak self] in
            guard let self else { return }
            output.withLock { output in
                guard failure != nil, !output.isClosed else { return }
                write(&output)
                if failure != nil { tryLater() }
            }
        }
    }
}
