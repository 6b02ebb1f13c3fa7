// SPDX-License-Identifier: Apache-2.0
import Glibc
import Reports
import Synchronization
import SystemPackage

// The journal's files, which only the writing thread uses.
extension EventJournal {
    /// Opens the newest file, or starts a new one if that is full or was changed by another program.
    func open(_ output: inout Output) throws {
        let newest = ring.withLock(\.segments.last)
        if let newest, let file = output.file {
            switch state(of: file, as: newest) {
            case .whole: break
            case .cut: return try begin(after: newest, because: .damaged, &output)
            case .gone: return try beginAnew(&output)
            }
        }
        guard let newest, newest.bytes < segmentBytes else { return try begin(after: newest, &output) }
        guard output.file == nil else { return }
        do {
            if let file = try reopen(newest) {
                output.file = file
            } else {
                try begin(after: newest, because: .damaged, &output)
            }
        } catch Errno.noSuchFileOrDirectory {
            try beginAnew(&output)
        }
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

    /// Opens a file to append to it, and cuts the partial line of an agent that was killed.
    ///
    /// - Returns: `nil` if the file is shorter than the complete lines recorded for it.
    private func reopen(_ segment: EventRing.Segment) throws -> FileDescriptor? {
        let path = EventRing.path(ofSlot: segment.slot, in: folder)
        let file = try FileDescriptor.open(path, .writeOnly, options: [.append, .noFollow, .closeOnExec])
        guard try file.seek(offset: 0, from: .end) >= segment.bytes else {
            try file.close()
            return nil
        }
        guard ftruncate(file.rawValue, off_t(segment.bytes)) == 0 else {
            let error = Errno(rawValue: errno)
            try? file.close()
            throw error
        }
        return file
    }

    private func beginAnew(_ output: inout Output) throws {
        ring.withLock { $0.segments = [] }
        try begin(after: nil, because: .removed, &output)
    }

    /// The state of a journal file that other programs may have changed.
    private enum FileState {
        case whole
        /// The file's size differs from the bytes written to it.
        case cut
        /// The file was removed or replaced: readers would not find new lines in it.
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

    /// Starts a new file; replaces the oldest one if all names are in use.
    private func begin(
        after newest: EventRing.Segment?, because cause: EventGap.Cause? = nil, _ output: inout Output
    ) throws {
        close(&output)
        if let cause { output.mark = EventMark(first: output.first, boot: boot, after: cause) }
        let slot = newest.map { ($0.slot + 1) % EventRing.names.count } ?? 0
        let path = EventRing.path(ofSlot: slot, in: folder)
        // Readers must not be led to a file that is about to be deleted.
        ring.withLock { $0.segments.removeAll { $0.slot == slot } }
        guard unlink(path.string) == 0 || errno == ENOENT else {
            throw FileError("replace", path.string, Errno(rawValue: errno))
        }
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .append, .closeOnExec], permissions: .ownerReadWrite)
        let header = output.mark ?? EventMark(first: output.first, boot: boot)
        do {
            try file.writeAll(header.line.utf8)
            // The journal's only file is flushed: if a power failure removed it, its numbers would be used again.
            if newest == nil { try flush(file) }
        } catch {
            try? file.close()
            unlink(path.string)
            throw error
        }
        output.file = file
        output.mark = nil
        output.limit = nil
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

    func close(_ output: inout Output) {
        try? output.file?.close()
        output.file = nil
    }
}
