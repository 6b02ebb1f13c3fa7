// SPDX-License-Identifier: GPL-2.0-only
import CInotifyTools
import Glibc

/// The folder watched by libinotifytools.
///
/// The library has static state that cannot be reset cleanly, so a process can watch only one folder. Only its reliable
/// functions are used: `initialize`, `watch_file`, `next_events`, `error`.
struct WatchedFolder {
    /// Readable when there are events.
    let descriptor: Int32
    private let path: String
    private let identity: Identity

    /// Starts watching a folder; symbolic links are followed once, now.
    ///
    /// - Throws: ``InotifyError`` if the folder does not exist, or a limit is reached.
    init(path: String) throws(InotifyError) {
        self.path = path
        let before = Identity(path)
        let others = Self.openDescriptors()
        guard inotifytools_initialize() != 0 else { throw Self.failure("start inotify") }
        // The library does not expose its descriptor.
        guard let descriptor = Self.openDescriptors().subtracting(others).min() else {
            throw Self.failure("find the descriptor of inotify")
        }
        self.descriptor = descriptor
        let mask =
            IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
            | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_CREATE
        guard inotifytools_watch_file(path, mask) != 0 else { throw Self.failure("watch \(path)") }
        guard let before, before == Identity(path) else {
            throw InotifyError(operation: "watch \(path)", name: "ESTALE", cause: "it is being replaced")
        }
        identity = before
    }

    /// Whether the watched folder is still at its path; no event reports that.
    var isAtItsPath: Bool { Identity(path) == identity }

    /// Identifies a folder for as long as it is watched.
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
        /// Empty where the file system has no handles.
        ///
        /// A btrfs subvolume that replaces another one can have its device and inode number.
        var handle: [UInt8]

        /// `nil` if nothing is at the path, or it is inaccessible.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
            var found = folder_handle()
            handle =
                get_folder_handle(path, &found) == 0
                ? withUnsafeBytes(of: found.bytes) { Array($0.prefix(Int(found.length))) } : []
        }
    }

    /// Reads the pending events without waiting.
    ///
    /// The library buffers events; while its buffer has any, the descriptor need not be readable. So this reads until
    /// there are none; with a timeout of 0 the library reports that instead of waiting (`next_event` would wait). In a
    /// busy folder this might never happen, so it stops after ``batchSize`` events and sets ``EventSummary/hasMore``.
    ///
    /// - Throws: ``InotifyError`` if the events cannot be read.
    func readEvents() throws(InotifyError) -> EventSummary {
        var summary = EventSummary()
        for _ in 0..<Self.batchSize {
            guard let event = inotifytools_next_events(0, 1) else {
                guard [0, EINTR].contains(inotifytools_error()) else { throw Self.failure("read events") }
                return summary
            }
            summary.add(watch: event.pointee.wd, mask: event.pointee.mask)
        }
        summary.hasMore = true
        return summary
    }

    /// The limit on events per call: about the size of the library's buffer.
    private static let batchSize = 4096

    /// The open descriptors below 16.
    private static func openDescriptors() -> Set<Int32> {
        Set((0..<16).filter { fcntl($0, F_GETFD) != -1 })
    }

    /// The error of the last library call.
    private static func failure(_ operation: String) -> InotifyError {
        let code = inotifytools_error()
        return InotifyError(
            operation: operation, name: strerrorname_np(code).map { String(cString: $0) } ?? "\(code)",
            cause: String(cString: strerror(code)))
    }
}
