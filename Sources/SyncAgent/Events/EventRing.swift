// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage

struct EventRing: Sendable {
    /// A file of the journal.
    struct Segment: Equatable, Sendable {
        /// The index of the file's name in `names`.
        var slot: Int
        /// A number that is unique within this journal, also among removed segments.
        var serial: Int
        /// The number of the segment's first event, or of the next event while it is empty.
        var first: Int
        /// The number of bytes that readers may read.
        var bytes: Int
    }

    /// The segments, the oldest first.
    var segments: [Segment] = []
    /// The number of the newest event; 0 if there never was one.
    var newest = 0
    var lastSerial = 0

    static let names = (0..<4).map { "events-\($0).ndjson" }

    static func path(ofSlot slot: Int, in folder: FilePath) -> FilePath { folder.appending(names[slot]) }

    /// The first number to use when it is uncertain which numbers were used: the start of the next million.
    static func jump(after id: Int) -> Int { (id / 1_000_000 + 1) * 1_000_000 + 1 }

    /// The highest valid number in a file: a line with a higher one was not written by an agent.
    ///
    /// A reservation can have higher ones, so that numbers go on even after this one.
    static let highest = 999_999_999_999_999
    static let mostDigits = 15
}

extension EventRing {
    struct Found {
        var ring = EventRing()
        /// Whether the agent closed the journal; if so, no events are missing at its end.
        var isClosed = true
        /// Whether the journal has contents that no agent wrote, or the newest file is missing.
        var isDamaged = false
        var numbers: EventNumbers?
        /// The boot ID with which the newest event was written.
        var boot: String?
    }

    /// Reads the journal in a folder; skips files that are not segments.
    static func find(in folder: FilePath, limit: Int) -> Found {
        var found = Found()
        for slot in names.indices {
            let path = path(ofSlot: slot, in: folder)
            guard access(path.string, F_OK) == 0 else { continue }
            guard let (size, bytes) = try? read(path, upTo: 4096, limit: limit),
                let end = bytes.firstIndex(of: UInt8(ascii: "\n")), let mark = EventMark(bytes[..<end])
            else {
                found.isDamaged = true
                continue
            }
            found.ring.segments.append(Segment(slot: slot, serial: 0, first: mark.first, bytes: size))
        }
        found.ring.segments.sort { $0.first < $1.first }
        for index in found.ring.segments.indices { found.ring.segments[index].serial = index + 1 }
        found.ring.lastSerial = found.ring.segments.count
        if let newest = found.ring.segments.popLast() { found.readNewest(newest, in: folder, limit: limit) }
        found.numbers = EventNumbers.read(in: folder)
        // The newest file is missing: the numbers of its events must not be used again.
        if let numbers = found.numbers, numbers.first > found.ring.segments.last?.first ?? 0 { found.isDamaged = true }
        return found
    }

    fileprivate static func read(_ path: FilePath, upTo most: Int, limit: Int) throws -> (size: Int, bytes: [UInt8]) {
        let file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        return try file.closeAfter {
            var status = stat()
            guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
            else { throw Errno.invalidArgument }
            let size = Int(status.st_size)
            return (size, try file.read(at: 0, count: min(size, most)))
        }
    }
}

extension FileDescriptor {
    func read(at offset: Int, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, total in
            while total < count {
                let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[total..<count]))
                let part = try read(fromAbsoluteOffset: Int64(offset + total), into: rest)
                if part == 0 { break }
                total += part
            }
        }
    }
}

extension EventRing.Found {
    /// Finds the newest event and the end of the last valid line; bytes behind it are a line that an agent was killed
    /// in.
    fileprivate mutating func readNewest(_ newest: EventRing.Segment, in folder: FilePath, limit: Int) {
        var segment = newest
        (isClosed, ring.newest, segment.bytes) = (false, newest.first - 1, 0)
        let path = EventRing.path(ofSlot: newest.slot, in: folder)
        let bytes = (try? EventRing.read(path, upTo: limit, limit: limit).bytes) ?? []
        bytes[...].forEachLine { line, end in
            guard let content = JournalLine(line) else { return }
            segment.bytes = end
            switch content {
            case .event(let id): (ring.newest, isClosed) = (max(ring.newest, id), false)
            case .mark(let mark): (ring.newest, boot, isClosed) = (max(ring.newest, mark.first - 1), mark.boot, false)
            case .end: isClosed = true
            }
        }
        if segment.bytes < newest.bytes { isDamaged = true }
        ring.segments.append(segment)
    }

    /// The mark with which the next run begins.
    func mark(boot: String?) -> EventMark {
        let newest = ring.newest
        // Lost events may have used any of the reserved numbers.
        let unused = max(EventRing.jump(after: newest), (numbers?.limit ?? 0) + 1)
        if isDamaged { return EventMark(first: unused, boot: boot, after: .damaged) }
        if isClosed { return EventMark(first: newest + 1, boot: boot) }
        if let boot, boot == self.boot {
            // The skipped number stands for the events that may not have been written.
            return EventMark(first: newest + 2, boot: boot, after: .agentKilled)
        }
        return EventMark(first: unused, boot: boot, after: .machineStopped)
    }
}
