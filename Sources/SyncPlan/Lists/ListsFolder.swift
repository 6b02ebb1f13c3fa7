// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat

/// Why the contents of all lists are not known.
enum ListDoubt: Equatable, Sendable {
    case unreadable(String)
    /// A list was not read yet. This ends by itself, at the latest with a timeout verdict.
    case unread(ListName)

    var reason: String {
        switch self {
        case .unreadable(let reason): reason
        case .unread(let name): "\(name) is still being written, or waits to be read"
        }
    }

    /// Whether the reason is normal while lists are read, and not worth reporting.
    var isPassing: Bool {
        if case .unread = self { true } else { false }
    }
}

/// The lists folder according to its scans: whether it is trusted, and which lists are missing.
struct ListsFolder: Sendable {
    private(set) var rules: String
    /// Whether the folder was scanned since the start; until then nothing is published or removed.
    private(set) var isScanned = false
    private(set) var hasUnread = false
    /// Why the last scan failed, or why the scanned folder is not trusted.
    private(set) var unavailable: String?
    private(set) var identity: FolderIdentity?
    /// Whether the folder had a list at the last scan, possibly in an earlier run.
    private(set) var hadFile: Bool
    /// The known lists that upstreams may give again, since no run is remembered that gave them; `nil` until a scan tells.
    private(set) var awaited: Set<ListName>?
    private(set) var lastScan: Timestamp?
    /// Why the contents of all lists are not known; `nil` if they are.
    var doubt: ListDoubt?
    /// The missing lists that do not count as removed yet.
    private var absent: AbsentLists
    /// Whether a scan was requested to decide whether the missing lists are removed.
    private var isLookWanted = false

    init(
        _ settings: Settings.Lists, identity: FolderIdentity?, hadFile: Bool = false, awaited: [ListName] = []
    ) {
        rules = ListLimits(settings).rules
        absent = AbsentLists(settle: settings.settle, settleMax: settings.settleMax)
        (self.identity, self.hadFile) = (identity, hadFile)
        self.awaited = identity == nil ? nil : Set(awaited)
    }

    mutating func configure(_ settings: Settings.Lists) {
        rules = ListLimits(settings).rules
        absent.window = AbsentLists(settle: settings.settle, settleMax: settings.settleMax).window
    }

    /// Whether no list waits to be read, or is missing and does not count as removed yet.
    var isSettled: Bool { isScanned && !hasUnread && !isReading && absent.isEmpty }

    /// Whether a single run can end: it does not wait until there are the processes, files or memory to read a list.
    var isSettledOnce: Bool { isSettled || hasShortage && isScanned && !hasUnread && absent.isEmpty }

    /// Whether a list that was never read was just written, or is slow to read, or a list could not be read for a
    /// shortage.
    var isReading = false
    private var hasShortage = false

    /// Whether the last scan showed all existing lists.
    var isRead: Bool { isScanned && !hasUnread && unavailable == nil }

    var missing: Set<ListName> { absent.names }

    /// Records a scan; returns the removed lists, `nil` if the scan says nothing about the lists.
    ///
    /// Without the state of an earlier run, a list that is missing at the first scan and that an upstream may still give,
    /// by `isAwaited`, is not removed before it was present.
    mutating func record(
        _ scan: ListScan, known: some Sequence<ListName>, isAwaited: (ListName) -> Bool = { _ in false },
        at now: Timestamp
    ) -> Set<ListName>? {
        isScanned = true
        lastScan = now
        isLookWanted = false
        hasUnread = false
        // A folder that is gone has no list to wait for; any other one is judged with its lists.
        (doubt, isReading, hasShortage) = (nil, false, false)
        guard case .listed(let found, let present, _) = scan else {
            if case .unavailable(let reason) = scan { unavailable = reason }
            absent.reset()
            return nil
        }
        // Lists taken over from upstreams, and entries that are no files, do not show whether the folder is the right one.
        let files = present.subtracting(found.others)
        let hasFile = !files.isSubset(of: found.adopted)
        // A list of the folder can have the name of one of an upstream, which then is there in its place.
        let isEmpty = !hasFile && (hadFile || known.contains { !found.adopted.contains($0) })
        unavailable = found.doubt(isEmpty: isEmpty, since: identity)
        guard unavailable == nil else {
            absent.reset()
            return nil
        }
        (identity, hadFile) = (found.identity, hasFile)
        awaited = (awaited ?? Set(known.filter(isAwaited))).subtracting(present)
        // A renamed list is removed only after the new file has been read.
        hasUnread = found.hasUnread
        guard !hasUnread else { return [] }
        let missing = known.filter { !present.contains($0) && !(awaited?.contains($0) == true && isAwaited($0)) }
        return absent.record(Set(missing), at: min(found.listed ?? now, now))
    }

    mutating func record(shortage: String) {
        (isReading, hasShortage) = (true, true)
        guard doubt?.isPassing ?? true else { return }
        doubt = .unreadable("some lists could not be read: \(shortage)")
    }

    /// When to list the folder again for missing lists; `nil` if none are missing, or a scan is coming anyway.
    var nextLook: Timestamp? { isLookWanted || hasUnread ? nil : absent.due }

    /// Requests a scan for missing lists if one is due, and returns whether it is.
    mutating func beginLook(at now: Timestamp) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        isLookWanted = true
        return true
    }
}

extension ListedFolder {
    /// Why this may not be the lists folder; `nil` if there is no doubt.
    ///
    /// An empty folder where another one had lists is an unmounted mount point, or hides the lists, or was just created
    /// and will be filled soon. `isEmpty` says that it has no list although there were some; `known` is the folder that
    /// had them.
    func doubt(isEmpty: Bool, since known: FolderIdentity?) -> String? {
        guard isEmpty, known?.isSame(as: identity) != true else { return nil }
        return
            "\(path) is empty, but another folder held the lists: is its file system mounted? All lists are kept until "
            + "that folder is back, or this one has a list"
    }
}
