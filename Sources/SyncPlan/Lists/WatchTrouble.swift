// SPDX-License-Identifier: Apache-2.0

/// Why changes in the lists folder may go untold, so that it is polled.
package enum WatchTrouble: Equatable, Sendable {
    /// Its file system tells nothing of what is changed elsewhere, by another machine or in a layer below.
    case blind(fileSystem: String)
    /// The system refused the watch, with the error of this name, such as `ENOSPC`.
    case refused(errno: String)
    /// The folder was taken away from under the watch, in the watcher's word.
    case lost(String)
    /// The watcher ended.
    case died(String)

    /// What there is to say, and what to do where something can be done.
    package var reason: String {
        switch self {
        case .blind(let fileSystem): "\(fileSystem) does not report changes made elsewhere"
        case .refused("ENOSPC"):
            "this user has no inotify watches left (ENOSPC): raise fs.inotify.max_user_watches"
        case .refused("EMFILE"):
            "this user has no inotify instances left (EMFILE): raise fs.inotify.max_user_instances"
        case .refused("ENFILE"): "the open file limit of the system is reached (ENFILE): raise fs.file-max"
        case .refused(let errno): "inotify refused the watch (\(errno))"
        case .lost(let word): "inotify lost the watch (\(word))"
        case .died(let end): "syncagent-watch failed (\(end))"
        }
    }

    /// The trouble with a file system.
    ///
    /// - Parameter magic: The number of its kind (statfs(2)).
    /// - Returns: `nil` if there is none.
    package static func of(fileSystem magic: UInt32) -> WatchTrouble? {
        let overlay: UInt32 = 0x794C_7630
        return (magic == overlay ? "overlayfs" : RemoteFileSystem.name(of: magic)).map { .blind(fileSystem: $0) }
    }
}

/// How often a folder is listed that is polled.
package enum PollingPace {
    /// - Parameters:
    ///   - cost: How long it took to list it.
    ///   - rescan: How often it is listed in any case.
    /// - Returns: 2 s, or longer where that would be more than half a percent of the time.
    package static func interval(cost: Duration, rescan: Duration) -> Duration {
        min(max(.seconds(2), cost * 200), rescan)
    }
}
