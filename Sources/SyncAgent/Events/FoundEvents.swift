// SPDX-License-Identifier: Apache-2.0
import Glibc
import Reports
import SystemPackage

/// What is in a journal's folder when it is opened.
struct FoundEvents {
    /// The size in bytes of the largest file that is accepted as a segment.
    private static let longest = 4 * EventJournal.segmentBytes

    private(set) var ring = EventRing()
    /// Whether the journal has contents that no agent wrote, or the newest file is missing.
    private(set) var isDamaged = false
    /// Whether the agent closed the journal; if so, no events are missing at its end.
    private var isClosed = true
    private let numbers: EventNumbers?
    /// The boot ID with which the newest event was written.
    private var boot: String?

    /// Reads the journal in a folder; skips files that are not segments.
    init(in folder: FilePath) {
        numbers = EventNumbers.read(in: folder)
        var files: [(slot: Int, first: Int, size: Int)] = []
        for slot in EventRing.names.indices {
            let path = EventRing.path(ofSlot: slot, in: folder)
            guard access(path.string, F_OK) == 0 else { continue }
            if let (size, bytes) = try? Self.read(path, upTo: 4096),
                let end = bytes.firstIndex(of: UInt8(ascii: "\n")), let mark = EventMark(bytes[..<end])
            {
                files.append((slot, mark.first, size))
            } else {
                isDamaged = true
            }
        }
        files.sort { $0.first < $1.first }
        for (slot, first, size) in files {
            let isNewest = slot == files.last?.slot
            let end = isNewest ? readNewest(EventRing.path(ofSlot: slot, in: folder), first: first) : size
            if end < size { isDamaged = true }
            ring.begin(slot: slot, first: first, bytes: end)
        }
        // The newest file is missing: the numbers of its events must not be used again.
        if let numbers, numbers.first > files.last?.first ?? 0 { isDamaged = true }
    }

    /// Finds the newest event, and returns the end of the last valid line; bytes behind it are a line that an agent was
    /// killed in.
    private mutating func readNewest(_ path: FilePath, first: Int) -> Int {
        (isClosed, ring.newest) = (false, first - 1)
        var validEnd = 0
        let bytes = (try? Self.read(path, upTo: Self.longest).bytes) ?? []
        bytes[...].forEachLine { line, end in
            guard let content = JournalLine(line) else { return }
            (validEnd, isClosed) = (end, false)
            switch content {
            case .event(let id): ring.newest = max(ring.newest, id)
            case .mark(let mark): (ring.newest, boot) = (max(ring.newest, mark.first - 1), mark.boot)
            case .end: isClosed = true
            }
        }
        return validEnd
    }

    private static func read(_ path: FilePath, upTo most: Int) throws -> (size: Int, bytes: [UInt8]) {
        let file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        return try file.closeAfter {
            var status = stat()
            guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest
            else { throw Errno.invalidArgument }
            let size = Int(status.st_size)
            return (size, try file.read(at: 0, count: min(size, most)))
        }
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
