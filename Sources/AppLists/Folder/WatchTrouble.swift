// SPDX-License-Identifier: Apache-2.0

/// Why changes in the lists folder may go unreported, so that it is polled.
package enum WatchTrouble: Equatable, Sendable {
    /// The file system does not report changes made elsewhere, by another machine or in a lower layer.
    case blind(fileSystem: String)
    /// The system refused the watch with this error, such as `ENOSPC`.
    case refused(errno: String)
    /// The watch was lost; the watcher's word for the cause.
    case lost(String)
    case died(String)

    /// The cause, and what to do where something can be done.
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

    /// The trouble with a file system of this type (statfs(2)); `nil` if there is none.
    package static func of(fileSystem magic: UInt32) -> WatchTrouble? {
        let overlay: UInt32 = 0x794C_7630
        return (magic == overlay ? "overlayfs" : RemoteFileSystem.name(of: magic)).map { .blind(fileSystem: $0) }
    }
}
