// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat

/// Why it is not known what all lists name.
enum ListDoubt: Equatable, Sendable {
    /// A list, or the folder of which the reason tells, cannot be read.
    case unreadable(String)
    /// A list is yet to be read. That ends by itself: with a verdict at the latest when it took too long.
    case unread(ListName)

    /// In words.
    var reason: String {
        switch self {
        case .unreadable(let reason): reason
        case .unread(let name): "\(name) is still being written, or waits to be read"
        }
    }

    /// Whether it is part of the ordinary reading of lists, of which nobody need be told.
    var isPassing: Bool {
        if case .unread = self { true } else { false }
    }
}

/// The lists folder, as the looks at it have shown it: whether it is trusted, and which lists are missing in it.
struct ListsFolder: Sendable {
    /// By what rules lists are read.
    private(set) var rules: String
    /// Whether it was looked at since the start: nothing is published or removed before.
    private(set) var isScanned = false
    /// Whether there are new lists that have not been read yet.
    private(set) var hasUnread = false
    /// Why the folder could not be listed at the last look, or what was listed is not taken for it.
    private(set) var unavailable: String?
    /// The folder that the lists are in; `nil` if that is not known.
    private(set) var identity: FolderIdentity?
    private(set) var lastScan: Timestamp?
    /// Why it is not known what all lists name.
    private(set) var doubt: ListDoubt?
    /// The lists that the last looks missed, and that are not gone yet.
    private var absent: AbsentLists
    /// Whether a look was asked for to decide on them.
    private var isLookWanted = false

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - identity: The folder that the lists were in; `nil` if that is not known.
    init(_ settings: Settings.Lists, identity: FolderIdentity?) {
        rules = ListLimits(settings).rules
        absent = AbsentLists(settle: settings.settle, settleMax: settings.settleMax)
        self.identity = identity
    }

    /// Goes on with other settings.
    mutating func configure(_ settings: Settings.Lists) {
        rules = ListLimits(settings).rules
        absent.configure(settle: settings.settle, settleMax: settings.settleMax)
    }

    /// Whether all lists that there are have been read, and none is missing.
    var isSettled: Bool { isScanned && !hasUnread && absent.isEmpty }

    /// Whether the last look showed all lists that there are.
    var isRead: Bool { isScanned && !hasUnread && unavailable == nil }

    /// The lists that are missing, and may be back in a moment.
    var missing: Set<ListName> { absent.names }

    /// Takes note of a look at the folder.
    ///
    /// - Parameters:
    ///   - scan: What the look showed.
    ///   - known: The lists that there were.
    ///   - now: The present time.
    /// - Returns: The lists that are gone; `nil` if the look says nothing of the lists.
    mutating func note(_ scan: ListScan, known: some Sequence<ListName>, at now: Timestamp) -> Set<ListName>? {
        isScanned = true
        lastScan = now
        isLookWanted = false
        hasUnread = false
        guard case .listed(let found, let present, _) = scan else {
            if case .unavailable(let reason) = scan { unavailable = reason }
            absent.reset()
            return nil
        }
        unavailable = found.doubt(isEmpty: present.isEmpty && known.contains { _ in true }, since: identity)
        guard unavailable == nil else {
            absent.reset()
            return nil
        }
        identity = found.identity
        // A list with another name now goes when that has been read, and not before.
        hasUnread = found.hasUnread
        guard !hasUnread else { return [] }
        return absent.note(Set(known.filter { !present.contains($0) }), at: min(found.listed ?? now, now))
    }

    /// Takes note of why it is not known what all lists name; `nil` if it is.
    mutating func note(doubt: ListDoubt?) {
        self.doubt = doubt
    }

    /// Takes note of why the agent could not read some lists.
    mutating func note(shortage: String) {
        guard doubt?.isPassing ?? true else { return }
        doubt = .unreadable("some lists could not be read: \(shortage)")
    }

    /// When the folder is to be listed again for lists that are missing; `nil` if none are, or that happens anyway.
    var nextLook: Timestamp? { isLookWanted || hasUnread ? nil : absent.due }

    /// Takes up that the folder is to be listed again: what was seen before says nothing of now.
    ///
    /// - Returns: Whether it is time.
    mutating func takeLook(at now: Timestamp) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        isLookWanted = true
        return true
    }
}

extension ListedFolder {
    /// Why it is doubted that this is the lists folder.
    ///
    /// A folder without lists, where another folder had some, is a mount point whose file system is not mounted, or is what
    /// hides the lists, or was made by somebody who is about to fill it.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether there is no list in it, although there were some.
    ///   - known: The folder that they were in, if that is known.
    /// - Returns: `nil` if it is not doubted.
    func doubt(isEmpty: Bool, since known: FolderIdentity?) -> String? {
        guard isEmpty, known?.isSame(as: identity) != true else { return nil }
        return
            "\(path) is empty, but another folder held the lists: is its file system mounted? All lists are kept until "
            + "that folder is back, or this one has a list"
    }
}
