// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Reports
import Synchronization
import SystemPackage

/// An event or a gap, as readers get it.
package struct EventLine: Equatable, Sendable {
    /// The number to resume after: that of the event, or the last one of the gap.
    package var id: Int
    /// One JSON object, without a newline.
    package var text: String
    package var isGap = false
}

package enum EventStart: Equatable, Sendable {
    /// Begin after the event with this number; at the oldest event if it is 0.
    case after(Int)
    /// Begin with this many of the newest lines.
    case last(Int)
    /// Begin with the next event.
    case now
}

/// A reader of the journal: a position in its files, which costs nothing while it waits.
package struct EventFollower: Sendable {
    /// How many bytes are read at once; every line is shorter.
    private static let chunkBytes = 1 << 16

    private let journal: EventJournal
    private var next: Int
    /// The position of the next line; see ``EventRing``.
    private var place: Int
    /// The reason why events before the next one are missing, if they are.
    private var cause: EventGap.Cause?
    /// Whether the first event may have any number, with no gap reported before it.
    private var isBeginning = false
    /// How many of the newest lines to start with; `nil` if the position is known.
    private var last: Int?
    private var gap: EventGap?

    init(_ journal: EventJournal, from start: EventStart) {
        self.journal = journal
        let ring = journal.ring.withLock(\.self)
        let oldest = ring.segments.first?.first ?? 1
        switch start {
        case .now: next = ring.newest + 1
        case .last(let count):
            next = ring.newest + 1
            if count > 0 { last = count }
        case .after(let id) where id > ring.newest:
            gap = EventGap(from: ring.newest + 1, through: id, cause: .unknownPosition)
            next = oldest
        // A reader that starts at 0 gets no gap for events that were rotated out.
        case .after(let id): next = id <= 0 ? oldest : id + 1
        }
        // Before all files if the events are gone: then they were rotated out.
        place = ring.segments.last { [next] in $0.first <= next }?.start ?? -1
    }

    /// Returns the available lines, and waits until there are some.
    ///
    /// Without a limit (`patience` is `nil`), it waits as long as it takes for the first line. Returns no lines if the
    /// time is over, and `nil` if the journal has ended or the task was cancelled.
    package mutating func lines(limit: Int = .max, atMost patience: Duration?) async -> [EventLine]? {
        while true {
            let seen = journal.feed.newest
            let lines = await read(limit: limit)
            if !lines.isEmpty { return lines }
            guard let seen, !Task.isCancelled else { return nil }
            if patience == .zero { return [] }
            if let patience {
                await wait(atMost: patience) { [journal] in _ = await journal.feed.next(after: seen) }
                if journal.feed.newest == seen { return Task.isCancelled ? nil : [] }
            } else if await journal.feed.next(after: seen) == nil, Task.isCancelled {
                return nil
            }
        }
    }

    /// Reads available lines on the journal's reader thread.
    private mutating func read(limit: Int) async -> [EventLine] {
        let (lines, follower) = await withCheckedContinuation { continuation in
            journal.reading.async { [self] in
                var follower = self
                let lines = follower.readNow(limit: limit)
                continuation.resume(returning: (lines, follower))
            }
        }
        self = follower
        return lines
    }

    private mutating func readNow(limit: Int) -> [EventLine] {
        if let gap {
            self.gap = nil
            return [line(of: gap)]
        }
        if let last {
            self.last = nil
            goBack(last)
        }
        while let segment = findPlace(), place < segment.end {
            guard let bytes = read(segment, at: place, count: Self.chunkBytes) else {
                if isThere(segment) { return [] }
                continue
            }
            if bytes.isEmpty {
                // Another program truncated the file: its other lines are lost.
                (place, cause) = (segment.end, .damaged)
                continue
            }
            let (lines, used) = parse(bytes, limit: limit)
            // The agent wrote no chunk without a newline, because every line is shorter: skip it.
            place += used > 0 || !lines.isEmpty ? used : bytes.count
            if !lines.isEmpty { return lines }
        }
        return []
    }

    /// Moves to the event that starts the last `count` lines; gaps in the numbers count as lines too.
    private mutating func goBack(_ count: Int) {
        let ring = journal.ring.withLock(\.self)
        var (left, following) = (count, ring.newest + 1)
        for segment in ring.segments.reversed() {
            var length = 0
            while length < segment.bytes {
                length = min(max(2 * length, Self.chunkBytes), segment.bytes)
                let start = segment.end - length
                guard let bytes = read(segment, at: start, count: length) else { return }
                for (id, offset) in Self.events(in: bytes).reversed() where id < following {
                    left -= id + 1 < following ? 2 : 1
                    guard left >= 0 || !isBeginning else { return }
                    // Missing numbers before the first returned event are not reported.
                    (next, following, isBeginning, place) = (id, id, true, start + offset)
                    if left <= 0 { return }
                }
            }
        }
    }

    /// The numbers of the events in a part of a file, and the offsets of their lines.
    private static func events(in bytes: [UInt8]) -> [(id: Int, offset: Int)] {
        var events: [(id: Int, offset: Int)] = []
        bytes[...].forEachLine { line, _ in
            if case .event(let id) = JournalLine(line) { events.append((id, line.startIndex)) }
        }
        return events
    }

    /// Finds the segment with the next line, or the newest one; `nil` if there is no segment.
    private mutating func findPlace() -> EventRing.Segment? {
        let segments = journal.ring.withLock(\.segments)
        guard let segment = segments.first(where: { place < $0.end }) ?? segments.last else { return nil }
        if place < segment.start {
            place = segment.start
            if next < segment.first { cause = .rotated }
        }
        return segment
    }

    private func isThere(_ segment: EventRing.Segment) -> Bool {
        journal.ring.withLock { $0.segments.contains { $0.start == segment.start } }
    }

    /// Reads a part of a segment; `nil` if it has been removed since.
    private func read(_ segment: EventRing.Segment, at position: Int, count: Int) -> [UInt8]? {
        let path = EventRing.path(ofSlot: segment.slot, in: journal.folder)
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.noFollow, .closeOnExec]) else {
            return nil
        }
        return try? file.closeAfter {
            guard isThere(segment) else { return nil }
            return try file.read(at: position - segment.start, count: min(count, segment.end - position))
        }
    }

    /// Parses lines out of a chunk, and returns them with the number of bytes used.
    private mutating func parse(_ bytes: [UInt8], limit: Int) -> (lines: [EventLine], used: Int) {
        var lines: [EventLine] = []
        var used = 0
        bytes[...].forEachLine { line, end in
            guard lines.count < limit else { return }
            switch JournalLine(line) {
            case .event(let id) where id >= next:
                if id > next, !isBeginning {
                    lines.append(self.line(of: EventGap(from: next, through: id - 1, cause: cause ?? .notWritten)))
                    next = id
                    cause = nil
                    guard lines.count < limit else { return }
                }
                lines.append(EventLine(id: id, text: String(decoding: line, as: UTF8.self)))
                next = id + 1
                (cause, isBeginning) = (nil, false)
            case .mark(let mark):
                guard let after = mark.after, mark.first > next else { break }
                cause = after
                guard !isBeginning else { break }
                lines.append(self.line(of: EventGap(from: next, through: mark.first - 1, cause: after)))
                (next, cause) = (mark.first, nil)
            case .event, .end, nil: break
            }
            used = end
        }
        return (lines, used)
    }

    private func line(of gap: EventGap) -> EventLine {
        let text = gap.line(time: "\(AgentClock.wallTime)")
        return EventLine(id: gap.id, text: String(text.dropLast()), isGap: true)
    }
}

extension EventJournal {
    package func follower(from start: EventStart) -> EventFollower { EventFollower(self, from: start) }
}

package struct EventPage: Sendable {
    package static let longest = 1000

    package var lines: [EventLine]
    /// The number with which a client requests the following events.
    package var next: Int

    package static func read(from start: EventStart, limit: Int, of journal: EventJournal) async -> EventPage {
        let limit = min(max(1, limit), longest)
        var lines: [EventLine] = []
        var follower = journal.follower(from: start)
        while lines.count < limit, let more = await follower.lines(limit: limit - lines.count, atMost: .zero),
            !more.isEmpty
        {
            lines += more
        }
        let start = if case .after(let id) = start { id } else { journal.newest }
        return EventPage(lines: lines, next: lines.last?.id ?? start)
    }

    /// `{"format": 1, "events": […], "next": 42, "gap": false}`, with one event per line.
    package var text: String {
        let rows = lines.map { "\n    \($0.text)" }.joined(separator: ",")
        let events = rows.isEmpty ? "[]" : "[\(rows)\n  ]"
        return
            "{ \"format\": 1,\n  \"events\": \(events),\n  \"next\": \(next), \"gap\": \(lines.contains(where: \.isGap)) }\n"
    }
}
