// SPDX-License-Identifier: GPL-2.0-only
import CInotifyTools
import Glibc

/// The folder that libinotifytools watches.
///
/// The library has static state that cannot be reset cleanly, so a process can watch one folder only. Just the
/// functions of the library that work reliably are used: `initialize`, `watch_file`, `next_events`, `error`.
struct WatchedFolder {
    /// The descriptor that becomes readable when there are events.
    let descriptor: Int32
    private let path: String
    private let identity: Identity

    /// Starts watching a folder.
    ///
    /// - Parameter path: The folder. Symbolic links are followed once, now.
    /// - Throws: ``InotifyError`` if there is no such folder, or a limit is reached.
    init(path: String) throws(InotifyError) {
        self.path = path
        let before = Identity(path)
        let others = Self.openDescriptors()
        guard inotifytools_initialize() != 0 else { throw Self.failure("start inotify") }
        // The library does not tell its descriptor.
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

    /// Whether the watched folder is still the one at its path; no event reports that.
    var isAtItsPath: Bool { Identity(path) == identity }

    /// Identifies a folder for as long as it is watched.
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t

        /// Identifies what is at a path; `nil` if there is nothing, or it is inaccessible.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    /// Reads the pending events, without waiting.
    ///
    /// The library reads events into a buffer and returns them one by one; while the buffer has any, the descriptor
    /// need not be readable. So this reads until there is none: with a timeout of 0 the library reports that instead of
    /// waiting (`next_event` would wait). In a busy folder that may never be, so it also stops after ``batchSize``
    /// events, with ``EventSummary/hasMore`` set.
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

    /// The limit on events per call: about as many as the library's buffer holds.
    private static let batchSize = 4096

    /// The open descriptors, among the first few.
    private static func openDescriptors() -> Set<Int32> {
        Set((0..<16).filter { fcntl($0, F_GETFD) != -1 })
    }

    /// The error of the last call.
    private static func failure(_ operation: String) -> InotifyError {
        let code = inotifytools_error()
        return InotifyError(
            operation: operation, name: strerrorname_np(code).map { String(cString: $0) } ?? "\(code)",
            cause: String(cString: strerror(code)))
    }
}
