// SPDX-License-Identifier: GPL-2.0-only
import CInotifyTools
import Glibc

/// The folder that libinotifytools watches.
///
/// The library has static storage and no way to start over in good order, so there is one in the life of a process.
/// Of the library, no more is used than what was seen to work: `initialize`, `watch_file`, `next_events`, `error`.
struct WatchedFolder {
    /// What becomes readable when something has happened.
    let descriptor: Int32
    private let path: String
    private let identity: Identity

    /// Starts to watch a folder.
    ///
    /// - Parameter path: The folder. A symbolic link is followed now, and not looked at again.
    /// - Throws: ``InotifyError`` if there is no such folder, or a limit is reached.
    init(path: String) throws(InotifyError) {
        self.path = path
        let before = Identity(path)
        let others = Self.openDescriptors()
        guard inotifytools_initialize() != 0 else { throw Self.failure("start inotify") }
        // The library does not say which descriptor it has.
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

    /// Whether what is watched is what is at the path; no event tells that.
    var isAtItsPath: Bool { Identity(path) == identity }

    /// What tells the folder from every other as long as it is watched.
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t

        /// What is at a path; `nil` if there is nothing that can be looked at.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    /// Takes the events that are there, without waiting for any.
    ///
    /// The library reads a whole buffer of events at once and hands them out one by one, and while it has any left,
    /// the descriptor need not be readable. So events are taken until there is none; with a timeout of 0 the library
    /// says so instead of waiting (`next_event` would wait). In a folder where something happens all the time that
    /// end may never come, so there is one after ``batchSize`` events too, with ``Happenings/hasMore`` set.
    ///
    /// - Throws: ``InotifyError`` if the events cannot be read.
    func takeHappenings() throws(InotifyError) -> Happenings {
        var happenings = Happenings()
        for _ in 0..<Self.batchSize {
            guard let event = inotifytools_next_events(0, 1) else {
                guard [0, EINTR].contains(inotifytools_error()) else { throw Self.failure("read events") }
                return happenings
            }
            happenings.note(watch: event.pointee.wd, mask: event.pointee.mask)
        }
        happenings.hasMore = true
        return happenings
    }

    /// The events that are taken together: about as many as the library's buffer holds.
    private static let batchSize = 4096

    /// The descriptors that are open, of the few that can be.
    private static func openDescriptors() -> Set<Int32> {
        Set((0..<16).filter { fcntl($0, F_GETFD) != -1 })
    }

    /// The error of the call just made.
    private static func failure(_ operation: String) -> InotifyError {
        let code = inotifytools_error()
        return InotifyError(
            operation: operation, name: strerrorname_np(code).map { String(cString: $0) } ?? "\(code)",
            cause: String(cString: strerror(code)))
    }
}
