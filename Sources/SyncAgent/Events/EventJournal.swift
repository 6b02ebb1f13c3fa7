// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Dispatch
import Glibc
package import Logging
package import SyncPlan
import Synchronization
package import SystemPackage

/// The events of the agent: the newest few megabytes of them, in files of the state folder that survive a restart.
///
/// Events are written on a thread of its own, and nobody sees one that is not written. Nothing is kept in memory for
/// readers: each is a position in the files. Numbers grow for ever. If events are missing, so are their numbers, and readers
/// are told (``EventGap``). If the files cannot be written, the agent goes on without.
package final class EventJournal: Sendable {
    /// The names of its files in the state folder.
    package static let files = EventRing.names
    /// How large a file becomes before the next one is begun, in bytes.
    package static let segmentBytes = 2 << 20
    /// How many events wait to be written at most; further ones are dropped.
    private static let mostPending = 100_000
    /// How many bytes are written at once, more or less.
    private static let batchBytes = 1 << 16

    /// What waits to be written.
    private struct Pending {
        var batches: [(time: Timestamp, events: [AgentEvent], skipped: Int)] = []
        var count = 0
        /// How many were dropped since the last batch.
        var dropped = 0
        var isScheduled = false
    }

    /// What only the writing thread uses.
    private struct Output {
        /// The newest file; `nil` if it is to be opened.
        var file: FileDescriptor?
        /// The number of the next event.
        var next: Int
        /// That of the first one that is about to be written.
        var first = 0
        /// The mark that has to be written before it.
        var mark: EventMark?
        /// Whether the last write failed.
        var isFailing = false
        var isClosed = false
    }

    let folder: FilePath
    private let segmentBytes: Int
    private let boot: String?
    private let logger: Logger
    let ring: Mutex<EventRing>
    let feed = ChangeFeed()
    private let pending = Mutex(Pending())
    private let output: Mutex<Output>
    private let writing = DispatchQueue(label: "syncagent.events")
    let reading = DispatchQueue(label: "syncagent.events.read")

    /// Opens the journal in a folder, to write to it; nobody else must.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - segmentBytes: How large a file becomes. The default is 2 MiB.
    ///   - boot: The run of the kernel; the default is the present one.
    ///   - logger: Where it is said that events cannot be written.
    package init(
        in folder: FilePath, segmentBytes: Int = segmentBytes, boot: String?? = .none, logger: Logger
    ) {
        self.folder = folder
        self.segmentBytes = segmentBytes
        self.boot = boot ?? BootID.current
        self.logger = logger
        let found = EventRing.find(in: folder, limit: Self.limit)
        let mark = found.mark(boot: self.boot)
        ring = Mutex(found.ring)
        output = Mutex(Output(next: mark.first, mark: mark))
    }

    /// Opens the journal of an agent that does not run, to read it.
    package init(reading folder: FilePath) {
        self.folder = folder
        (segmentBytes, boot, logger) = (
            Self.segmentBytes, nil, Logger(label: "events") { _ in SwiftLogNoOpLogHandler() }
        )
        let found = EventRing.find(in: folder, limit: Self.limit)
        ring = Mutex(found.ring)
        output = Mutex(Output(next: 0, isClosed: true))
        feed.end()
    }

    /// The size of the largest file that is taken for one of its own.
    private static let limit = 4 * segmentBytes

    /// Whether there is an event.
    package var isEmpty: Bool { ring.withLock { $0.segments.isEmpty } }

    /// The number of the newest event; 0 if there never was one.
    package var newest: Int { ring.withLock(\.newest) }

    // MARK: Writing

    /// Has events written, as of this time.
    package func append(_ events: [AgentEvent], at time: Timestamp) {
        guard !events.isEmpty else { return }
        let isFirst = pending.withLock { pending in
            guard pending.count + events.count <= Self.mostPending else {
                pending.dropped += events.count
                return false
            }
            pending.batches.append((time, events, pending.dropped))
            pending.count += events.count
            pending.dropped = 0
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
        let batches = pending.withLock { pending in
            defer { (pending.batches, pending.count, pending.isScheduled) = ([], 0, false) }
            return pending.batches
        }
        output.withLock { output in
            guard !output.isClosed else { return }
            var text: [UInt8] = []
            for (time, events, skipped) in batches {
                let time = "\(time)"
                output.next += skipped
                for event in events {
                    if text.isEmpty { output.first = output.next }
                    text.append(contentsOf: event.line(id: output.next, time: time).utf8)
                    output.next += 1
                    if text.count >= Self.batchBytes { write(&text, &output) }
                }
            }
            write(&text, &output)
        }
    }

    /// Writes whole lines, and lets readers see them; if that cannot be done, they are dropped.
    private func write(_ text: inout [UInt8], _ output: inout Output) {
        guard !text.isEmpty else { return }
        defer { text.removeAll(keepingCapacity: true) }
        do {
            try open(&output)
            let mark = output.mark.map { Array($0.line.utf8) } ?? []
            try append(mark + text, &output)
            output.mark = nil
            let newest = output.next - 1
            ring.withLock { $0.newest = newest }
            if output.isFailing { logger.notice("events are written again") }
            output.isFailing = false
            feed.note()
        } catch {
            if !output.isFailing {
                logger.warning(
                    "cannot write the event journal: events are dropped",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"])
            }
            output.isFailing = true
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

    /// Opens the newest file, or begins one if it is full.
    private func open(_ output: inout Output) throws {
        let newest = ring.withLock(\.segments.last)
        if let newest, let file = output.file {
            switch state(of: file, as: newest) {
            case .whole: break
            case .cut: return try begin(after: newest, because: .damaged, &output)
            case .gone:
                ring.withLock { $0.segments = [] }
                return try begin(after: nil, because: .removed, &output)
            }
        }
        if let newest, newest.bytes < segmentBytes {
            guard output.file == nil else { return }
            let path = EventRing.path(ofSlot: newest.slot, in: folder)
            let file = try FileDescriptor.open(path, .writeOnly, options: [.append, .noFollow, .closeOnExec])
            // What is behind the last whole line was being written when an agent ended.
            guard ftruncate(file.rawValue, off_t(newest.bytes)) == 0 else {
                try? file.close()
                throw Errno(rawValue: errno)
            }
            output.file = file
            return
        }
        try begin(after: newest, &output)
    }

    /// What others did to a file of the journal.
    private enum FileState {
        case whole
        /// It has another size than was written to it.
        case cut
        /// Nobody would find what is written to it.
        case gone
    }

    private func state(of file: FileDescriptor, as segment: EventRing.Segment) -> FileState {
        var (open, found) = (stat(), stat())
        guard fstat(file.rawValue, &open) == 0 else { return .gone }
        let path = EventRing.path(ofSlot: segment.slot, in: folder)
        if lstat(path.string, &found) != 0 {
            if errno == ENOENT { return .gone }
        } else if (open.st_dev, open.st_ino) != (found.st_dev, found.st_ino) {
            return .gone
        }
        return Int(open.st_size) == segment.bytes ? .whole : .cut
    }

    /// Begins a file, in place of the oldest one if there are all.
    private func begin(
        after newest: EventRing.Segment?, because cause: EventGap.Cause? = nil, _ output: inout Output
    ) throws {
        close(&output)
        if let cause { output.mark = EventMark(first: output.first, boot: boot, after: cause) }
        let slot = newest.map { ($0.slot + 1) % EventRing.names.count } ?? 0
        let path = EventRing.path(ofSlot: slot, in: folder)
        // Readers find out that it is gone before it is.
        ring.withLock { $0.segments.removeAll { $0.slot == slot } }
        guard unlink(path.string) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .append, .closeOnExec], permissions: .ownerReadWrite)
        let header = output.mark ?? EventMark(first: output.first, boot: boot)
        do {
            try file.writeAll(header.line.utf8)
            // With all files, a power failure would take the numbers that were given.
            if newest == nil { try flush(file) }
        } catch {
            try? file.close()
            unlink(path.string)
            throw error
        }
        output.file = file
        output.mark = nil
        ring.withLock { ring in
            ring.lastSerial += 1
            ring.segments.append(
                EventRing.Segment(
                    slot: slot, serial: ring.lastSerial, first: header.first, bytes: header.line.utf8.count))
        }
    }

    private func flush(_ file: FileDescriptor) throws {
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        let folder = try FileDescriptor.openFolder(folder)
        defer { try? folder.close() }
        fsync(folder.rawValue)
    }

    private func finish(_ output: inout Output) {
        guard !output.isClosed else { return }
        output.isClosed = true
        let hasDropped = output.isFailing || pending.withLock { $0.dropped > 0 }
        if let file = output.file, !hasDropped {
            // Flushed before, so that the mark is true also after a power failure.
            if fdatasync(file.rawValue) == 0 { try? append(EventMark.end + [UInt8(ascii: "\n")], &output) }
            fdatasync(file.rawValue)
        }
        close(&output)
    }

    private func close(_ output: inout Output) {
        try? output.file?.close()
        output.file = nil
    }
}
