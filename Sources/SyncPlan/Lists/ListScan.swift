// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// What tells one version of a file from another without reading it (`stat(2)`).
package struct FileFingerprint: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    /// The modification time, since 1970.
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

/// A folder that was listed.
package struct ListedFolder: Equatable, Sendable {
    package var path: String
    package var identity: FolderIdentity
    /// When it was listed, by the agent's clock; `nil` if that is when it was told.
    package var listed: Timestamp?
    /// Why some of the lists in it could not be read, which says nothing of them; `nil` if all were.
    package var shortage: String?
    /// Whether there are new lists that the next look reads.
    package var hasUnread = false
    /// What has the name of a list and is no regular file: a folder, a pipe, a socket, a device.
    package var others: Set<ListName> = []

    package init(path: String, identity: FolderIdentity, listed: Timestamp? = nil) {
        self.path = path
        self.identity = identity
        self.listed = listed
    }
}

/// What one look at the lists folder showed.
package enum ListScan: Sendable {
    /// The folder is missing, or could not be listed to its end: it says nothing of the lists, and is never taken for empty.
    case unavailable(reason: String)
    /// All lists that there are, and what became of those that are not as they were at the last look.
    case listed(ListedFolder, present: Set<ListName>, changed: [ListName: ListReading])

    /// The same, with the time of the listing.
    package func listed(at time: Timestamp) -> ListScan {
        guard case .listed(var folder, let present, let changed) = self else { return self }
        folder.listed = time
        return .listed(folder, present: present, changed: changed)
    }

    /// The same, with more that was found out of lists that are present.
    package func adding(_ readings: [ListName: ListReading]) -> ListScan {
        guard case .listed(let folder, let present, let changed) = self else { return self }
        return .listed(folder, present: present, changed: changed.merging(readings) { $1 })
    }
}

/// What reading one list's file gave.
package struct ListReading: Sendable {
    /// The file that was read; `nil` if it could not be.
    package var source: AppListDocument.Source?
    package var verdict: ListVerdict

    package init(source: AppListDocument.Source?, verdict: ListVerdict) {
        self.source = source
        self.verdict = verdict
    }
}

/// A version of a list of which it is known what is in it.
package struct KnownList: Equatable, Sendable {
    /// The file's.
    package var sha256: Digest
    package var list: AppList

    package init(sha256: Digest, list: AppList) {
        self.sha256 = sha256
        self.list = list
    }
}

extension ListVerdict {
    /// Whether it tells of the file, which is then not read again until it changes.
    package var isOfTheFile: Bool {
        if case .failure(let rejection) = self { rejection.isOfTheFile } else { true }
    }

    /// Whether the file took more time than it was given.
    package var isTimeout: Bool {
        if case .failure(.parserTimeout) = self { true } else { false }
    }
}

/// One app list: its last good version, and what is to be said of the newest.
package struct ListRecord: Sendable {
    package enum State: Equatable, Sendable {
        case ok
        /// The file is not acceptable as it is now; an older version stays in force.
        case lastGood(ListRejection)
        /// The file is not acceptable, and never was.
        case rejected(ListRejection)
    }

    package var state: State
    /// The file of the last good version.
    package var source: AppListDocument.Source?
    package var entries: [AppEntry] = []
    /// The entries that were passed over in the last good version.
    package var problems: [EntryProblem] = []
    /// Whether it was read by the rules in force, and not only its document.
    package var isRead = false
    /// What the newest manifest says of it; `nil` if it does not name it.
    package var published: Manifest.List?

    /// The last good version, if its document tells all that was in it.
    var known: KnownList? {
        guard isRead, problems.isEmpty, let source else { return nil }
        return KnownList(sha256: source.sha256, list: AppList(entries: entries))
    }

    /// What is wrong with the file as it is now.
    package var rejection: ListRejection? {
        switch state {
        case .ok: nil
        case .lastGood(let rejection), .rejected(let rejection): rejection
        }
    }
}
