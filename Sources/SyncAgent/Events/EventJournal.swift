// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Dispatch
import Glibc
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
        var dropped = 0
        var isScheduled = false
    }

    struct Output {
        /// The newest file; `nil` if it is not open.
        var file: FileDescriptor?
        var next: Int
        /// The number of the first event in the next write.
        var first = 0
        var mark: EventMark?
        /// The highest reserved number; `nil` if the reservation must be written again.
        var limit: Int?
        var isFailing = false
        var isClosed = false
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
    private let trouble = Mutex<String?>(nil)
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
        let found = EventRing.find(in: folder, limit: Self.limit)
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
    package init(reading folder: FilePath) {
        self.folder = folder
        (segmentBytes, mostPending, boot) = (Self.segmentBytes, Self.mostPending, nil)
        retryInterval = Self.retryInterval
        logger = Logger(label: "events") { _ in SwiftLogNoOpLogHandler() }
        let found = EventRing.find(in: folder, limit: Self.limit)
        ring = Mutex(found.ring)
        output = Mutex(Output(next: 0, isClosed: true))
        feed.end()
    }

    /// The size in bytes of the largest file that is accepted as a segment.
    private static let limit = 4 * segmentBytes

    package var isEmpty: Bool { ring.withLock { $0.segments.isEmpty } }

    /// The reason why events cannot be written, as a clause; `nil` if they can.
    package var failure: String? { trouble.withLock(\.self) }

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
            var kept = events
            // A single large turn of the plan may exceed the limit: all its events are written.
            if pending.count > 0, pending.count + events.count > mostPending {
                kept = pending.count < 2 * mostPending ? events.filter { !$0.kind.isOfIcon } : []
            }
            if kept.isEmpty {
                pending.dropped += events.count
            } else {
                pending.batches.append((time, kept, pending.dropped + events.count - kept.count))
                pending.count += kept.count
                pending.dropped = 0
            }
            defer { pending.isScheduled = true }
            return !pending.isScheduled
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
        let (batches, dropped) = pending.withLock { pending in
            defer { pending = Pending() }
            return (pending.batches, pending.dropped)
        }
        let allDropped = batches.reduce(dropped) { $0 + $1.dropped }
        if allDropped > 0 {
            logger.warning("too many events at once: events are dropped", metadata: ["events": "\(allDropped)"])
        }
        output.withLock { output in
            guard !output.isClosed else { return }
            var text: [UInt8] = []
            for (time, events, dropped) in batches {
                let time = "\(time)"
                skip(dropped, &text, &output)
                for event in events {
                    if text.isEmpty { output.first = output.next }
                    text.append(contentsOf: event.line(id: output.next, time: time).utf8)
                    output.next += 1
                    if text.count >= Self.batchBytes { write(&text, &output) }
                }
            }
            skip(dropped, &text, &output)
            write(&text, &output)
        }
    }

    /// Skips the numbers of dropped events, and writes a mark that tells readers at once that these are missing.
    private func skip(_ dropped: Int, _ text: inout [UInt8], _ output: inout Output) {
        guard dropped > 0 else { return }
        output.next += dropped
        if text.isEmpty { output.first = output.next }
        text.append(contentsOf: EventMark(first: output.next, boot: boot, after: .tooMany).line.utf8)
    }

    /// Writes whole lines and shows them to readers; drops them on failure.
    private func write(_ text: inout [UInt8], _ output: inout Output) {
        guard !text.isEmpty || output.isFailing && output.mark != nil else { return }
        defer { text.removeAll(keepingCapacity: true) }
        do {
            try open(&output)
            try reserveNumbers(&output)
            let mark = output.mark.map { Array($0.line.utf8) } ?? []
            try append(mark + text, &output)
            output.mark = nil
            let newest = output.next - 1
            ring.withLock { $0.newest = newest }
            if output.isFailing { logger.notice("events are written again") }
            output.isFailing = false
            trouble.withLock { $0 = nil }
            feed.emit()
        } catch {
            if !output.isFailing {
                logger.warning(
                    "cannot write the event journal: events are dropped",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"])
                tryLater()
            }
            output.isFailing = true
            trouble.withLock { $0 = "events cannot be written in \(folder): \(error)" }
        }
    }

    /// Retries the write at intervals, until it succeeds; a mark replaces the dropped events.
    ///
    /// Without retries, an agent without new events would report the failure forever.
    private func tryLater() {
        writing.asyncAfter(deadline: .now() + .milliseconds(Int(retryInterval / .milliseconds(1)))) { [weak self] in
            guard let self else { return }
            let isFailing = output.withLock { output in
                guard output.isFailing, !output.isClosed else { return false }
                output.mark = EventMark(first: output.next, boot: boot, after: output.mark?.after ?? .notWritten)
                output.first = output.next
                var none: [UInt8] = []
                write(&none, &output)
                return output.isFailing
            }
            if isFailing { tryLater() }
        }
    }

    private func append(_ bytes: [UInt8], _ output: inout Output) throws {
        guard let file = output.file else { return }
        do {
            try file.writeAll(bytes)
        } catch {
            // A partial line would merge with the next one, so it is cut off.
            let end = ring.withLock { $0.segments.last?.bytes ?? 0 }
            // If it cannot be cut off now, that happens when the file is opened again.
            if ftruncate(file.rawValue, off_t(end)) != 0 { close(&output) }
            throw error
        }
        ring.withLock { ring in
            guard let last = ring.segments.indices.last else { return }
            ring.segments[last].bytes += bytes.count
        }
    }

    private func finish(_ output: inout Output) {
        guard !output.isClosed else { return }
        output.isClosed = true
        if let file = output.file, !output.isFailing {
            // The events are flushed before the mark of their end, so that it is true even after a power failure.
            if fdatasync(file.rawValue) == 0 { try? append(EventMark.end + [UInt8(ascii: "\n")], &output) }
            fdatasync(file.rawValue)
        }
        close(&output)
    }
}
