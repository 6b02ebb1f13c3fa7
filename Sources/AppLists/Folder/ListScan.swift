// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Distinguishes versions of a file without reading it (`stat(2)`).
package struct FileFingerprint: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    /// The time of the last write, since 1970.
    package var modified: Duration
    /// The time of the last status change, since 1970.
    package var changed: Duration

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Duration, changed: Duration) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

package struct ListedFolder: Equatable, Sendable {
    package var path: String
    package var identity: FolderIdentity
    /// When the folder was listed, by the agent's clock; `nil` means the time at which the scan is reported.
    package var listed: Timestamp?
    /// The reason why some lists could not be read, if their files are not the cause; `nil` if all were read.
    package var shortage: String?
    package var hasUnread = false
    /// Entries with the name of a list that are no regular files: folders, pipes, sockets, devices.
    package var others: Set<ListName> = []
    /// The lists that are not in the folder, but taken over from upstreams.
    package var adopted: Set<ListName> = []

    package init(path: String, identity: FolderIdentity, listed: Timestamp? = nil) {
        self.path = path
        self.identity = identity
        self.listed = listed
    }
}

package enum ListScan: Sendable {
    /// The folder is missing or was not listed completely, so nothing is known about the lists; never treated as empty.
    case unavailable(reason: String)
    /// All lists that exist, and the readings of those that changed since the last scan.
    case listed(ListedFolder, present: Set<ListName>, changed: [ListName: ListReading])

    package func listed(at time: Timestamp, adding readings: [ListName: ListReading] = [:]) -> ListScan {
        guard case .listed(var folder, let present, let changed) = self else { return self }
        folder.listed = time
        return .listed(folder, present: present, changed: changed.merging(readings) { $1 })
    }
}

package struct ListReading: Sendable {
    package var source: AppListDocument.Source?
    package var verdict: ListVerdict

    package init(source: AppListDocument.Source?, verdict: ListVerdict) {
        self.source = source
        self.verdict = verdict
    }
}

extension ListVerdict {
    /// Whether the verdict depends on the file alone, which is then not read again until it changes.
    package var isOfTheFile: Bool {
        if case .failure(let rejection) = self { rejection.isOfTheFile } else { true }
    }

    /// Whether the parser reached no verdict: the machine may be at fault, and the file is worth another try.
    package var isDoubtful: Bool {
        guard case .failure(let rejection) = self else { return false }
        return [.parserDied, .parserFailed, .parserTimeout, .parserNonsense].contains(rejection.code)
    }

    package var isTimeout: Bool {
        if case .failure(let rejection) = self { rejection.code == .parserTimeout } else { false }
    }
}
