// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Dispatch
import Glibc
package import Logging
package import Reports
import SyncPlan
import Synchronization
package import SystemPackage

/// The events of the agent: the newest few megabytes of them, in files of the state folder that survive a restart.
///
/// Events are written on a thread of its own, and nobody sees one that is not written. Nothing is kept in memory for
/// readers: each is a position in the files. Numbers grow for ever. If events are missing, so are their numbers, and readers
/// are told (``EventGap``). If the files cannot be written, the agent goes on without.
package final class EventJournal: Sendable {
    /// The names of its files in the state folder.
    package static let files = EventRing.names + [EventNumbers.file]
    /// How large a file becomes before the next one is begun, in bytes.
    package static let segmentBytes = 2 << 20
    /// How many events may wait to be written before those of icons are dropped.
    package static let mostPending = 100_000
    /// How many bytes are written at once, more or less.
    private static let batchBytes = 1 << 16

    /// What waits to be written.
    private struct Pending {
        /// Events, each with how many were dropped before them.
        var batches: [(time: Timestamp, events: [AgentEvent], dropped: Int)] = []
        var count = 0
        /// How many were dropped since the last batch.
        var dropped = 0
        var isScheduled = false
    }

    /// What only the writing thread uses.
    struct Output {
        /// The newest file; `nil` if it is to be opened.
        var file: FileDescriptor?
        /// The number of the next event.
        var next: Int
        /// That of the first one that is about to be written.
        var first = 0
        /// The mark that has to be written before it.
        var mark: EventMark?
        /// The highest reserved number; `nil` if the reservation must be written again.
        var limit: Int?
        /// Whether the last write failed.
        var isFailing = false
        var isClosed = false
    }

    let folder: FilePath
    let segmentBytes: Int
    private let mostPending: Int
    let boot: String?
    private let logger: Logger
    let ring: Mutex<EventRing>
    let feed = ChangeFeed()
    /// Why events cannot be written; `nil` if they can.
    private let trouble = Mutex<String?>(nil)
    private let pending = Mutex(Pending())
    private let output: Mutex<Output>
    let writing = DispatchQueue(label: "syncagent.events")
    let reading = DispatchQueue(label: "syncagent.events.read")

    /// Opens the journal in a folder, to write to it; nobody else must.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - segmentBytes: How large a file becomes. The default is 2 MiB.
    ///   - mostPending: How many events may wait before those of icons are dropped. The default is 100,000.
    ///   - boot: The run of the kernel; the default is the present one.
    ///   - logger: Where it is said that events cannot be written.
    package init(
        in folder: FilePath, segmentBytes: Int = segmentBytes, mostPending: Int = mostPending,
        boot: String?? = .none, logger: Logger
    ) {
        self.folder = folder
        self.segmentBytes = segmentBytes
        self.mostPending = mostPending
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

    /// Opens the journal of an agent that does not run, to read it.
    package init(reading folder: FilePath) {
        self.folder = folder
        (segmentBytes, mostPending, boot) = (Self.segmentBytes, Self.mostPending, nil)
        logger = Logger(label: "events") { _ in SwiftLogNoOpLogHandler() }
        let found = EventRing.find(in: folder, limit: Self.limit)
        ring = Mutex(found.ring)
        output = Mutex(Output(next: 0, isClosed: true))
        feed.end()
    }

    /// The size of the largest file that is taken for one of its own.
    private static let limit = 4 * segmentBytes

    /// Whether there is an event.
    package var isEmpty: Bool { ring.withLock { $0.segments.isEmpty } }

    /// Why no event is written, as a clause; `nil` if they are.
    package var failure: String? { trouble.withLock(\.self) }

    /// The number of the newest event; 0 if there never was one.
    package var newest: Int { ring.withLock(\.newest) }

    // MARK: Writing

    /// Has events written, as of this time.
    ///
    /// If too many wait already, those of single icons are dropped; and all of them on a disk that hangs for long.
    package func append(_ events: [AgentEvent], at time: Timestamp) {
        guard !events.isEmpty else { return }
        let isFirst = pending.withLock { pending in
            var kept = events
            // One turn of the plan may have more than may wait: it is written whole.
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

    /// Writes what waits, and notes that nothing is missing; readers come to their end.
    ///
    /// It waits for a second at most: a disk that hangs must not keep the agent from ending.
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

    /// Leaves out the numbers of events that were dropped, and has readers told at once.
    private func skip(_ dropped: Int, _ text: inout [UInt8], _ output: inout Output) {
        guard dropped > 0 else { return }
        output.next += dropped
        if text.isEmpty { output.first = output.next }
        text.append(contentsOf: EventMark(first: output.next, boot: boot, after: .tooMany).line.utf8)
    }

    /// Writes whole lines, and lets readers see them; if that cannot be done, they are dropped.
    private func write(_ text: inout [UInt8], _ output: inout Output) {
        guard !text.isEmpty else { return }
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
            feed.note()
        } catch {
            if !output.isFailing {
                logger.warning(
                    "cannot write the event journal: events are dropped",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"])
            }
            output.isFailing = true
            trouble.withLock { $0 = "events cannot be written in \(folder): \(error)" }
        }
    }

    private func append(_ bytes: [UInt8], _ output: inout Output) throws {
        guard let file = output.file else { return }
        do {
            try file.writeAll(bytes)
        } catch {
            // Half a line would become one with what comes next.
            let end = ring.withLock { $0.segments.last?.bytes ?? 0 }
            // If it cannot be cut now, it is when the file is opened again.
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
            // Flushed before, so that the mark is true also after a power failure.
            if fdatasync(file.rawValue) == 0 { try? append(EventMark.end + [UInt8(ascii: "\n")], &output) }
            fdatasync(file.rawValue)
        }
        close(&output)
    }
}
