// SPDX-License-Identifier: Apache-2.0
import Glibc
import Reports
import Synchronization
import SystemPackage

// The journal's files, which only the writing thread uses.
extension EventJournal {
    /// Opens the newest file, or starts a new one if that is full or was changed by another program.
    func open(_ output: inout Output) throws {
        guard let newest = ring.withLock(\.segments.last) else { return try begin(&output) }
        let path = EventRing.path(ofSlot: newest.slot, in: folder)
        let wasOpen = output.file != nil
        if !wasOpen {
            do {
                output.file = try FileDescriptor.open(
                    path, .writeOnly, options: [.append, .noFollow, .closeOnExec])
            } catch Errno.noSuchFileOrDirectory {
                return try begin(&output, because: .removed)
            }
        }
        var (open, found) = (stat(), stat())
        // Readers would not find new lines in a file that has lost its name.
        guard let file = output.file, fstat(file.rawValue, &open) == 0,
            lstat(path.string, &found) == 0
                ? (open.st_dev, open.st_ino) == (found.st_dev, found.st_ino) : errno != ENOENT
        else { return try begin(&output, because: .removed) }
        let size = Int(open.st_size)
        if size > newest.bytes, !wasOpen {
            // The partial line of an agent that was killed, or of a write that failed.
            guard ftruncate(file.rawValue, off_t(newest.bytes)) == 0 else {
                defer { close(&output) }
                throw Errno(rawValue: errno)
            }
        } else if size != newest.bytes {
            return try begin(&output, because: .damaged)
        }
        if newest.bytes >= segmentBytes { try begin(&output) }
    }

    /// Starts a new file; replaces the oldest one if all names are in use.
    private func begin(_ output: inout Output, because cause: EventGap.Cause? = nil) throws {
        close(&output)
        if let cause { output.mark = EventMark(first: output.first, boot: boot, after: cause) }
        let (slot, isFirst) = ring.withLock { ring in
            if cause == .removed { ring.segments = [] }
            let slot = ring.segments.last.map { ($0.slot + 1) % EventRing.names.count }
            // Readers must not be led to a file that is about to be deleted.
            ring.segments.removeAll { $0.slot == slot }
            return (slot ?? 0, slot == nil)
        }
        let path = EventRing.path(ofSlot: slot, in: folder)
        guard unlink(path.string) == 0 || errno == ENOENT else {
            throw FileError("replace", path.string, Errno(rawValue: errno))
        }
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .append, .closeOnExec], permissions: .ownerReadWrite)
        let header = output.mark ?? EventMark(first: output.first, boot: boot)
        do {
            try file.writeAll(header.line.utf8)
            // The reservation of numbers, which comes next, makes the name durable, too.
            guard !isFirst || fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            try? file.close()
            unlink(path.string)
            throw error
        }
        (output.file, output.mark, output.limit) = (file, nil, nil)
        ring.withLock { $0.begin(slot: slot, first: header.first, bytes: header.line.utf8.count) }
    }

    /// Durably reserves numbers up to the newest event, and records the newest file, before readers can see them.
    func reserveNumbers(_ output: inout Output) throws {
        let newest = output.next - 1
        if let limit = output.limit, newest <= limit { return }
        let first = ring.withLock { $0.segments.last?.first ?? output.first }
        let limit = EventNumbers.limit(for: newest)
        try EventNumbers(first: first, limit: limit).write(in: folder)
        output.limit = limit
    }

    func append(_ bytes: [UInt8], _ output: inout Output) throws {
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
        ring.withLock { $0.extend(by: bytes.count) }
    }

    func finish(_ output: inout Output) {
        output.isClosed = true
        if let file = output.file, failure == nil {
            // The events are flushed before the mark of their end, so that it is true even after a power failure.
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
