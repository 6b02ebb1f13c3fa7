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
        blindFileSystems[magic].map { .blind(fileSystem: $0) }
    }

    private static let blindFileSystems: [UInt32: String] = [
        0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x517B: "SMB", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x794C_7630: "overlayfs", 0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x7375_7245: "Coda",
        0x0BD0_0BD0: "Lustre", 0x786F_4256: "vboxsf",
    ]
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
