// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

extension Reconciler {
    /// Whether a version of a list is in force, be it the last good one.
    package func hasGoodVersion(of list: ListName) -> Bool { catalog.lists[list]?.source != nil }

    mutating func applyScan(_ scan: ListScan, now: Timestamp, to actions: inout [Action]) {
        let isFirst = !hasScanned
        hasScanned = true
        lastScan = now
        isLookWanted = false
        hasUnreadLists = false
        suspectCache(isComplete: false)
        switch scan {
        case .unavailable(let reason):
            unavailable = reason
        case .listed(let folder, let present, let changed):
            unavailable = accept(folder, isEmpty: present.isEmpty, now: now)
            if unavailable != nil { break }
            if manifest == nil, publishing == nil { window.noteChange(at: now) }
            let missing = catalog.lists.keys.filter { $0 != Self.pinList && !present.contains($0) }
            // A list with another name now goes when that has been read, and not before.
            hasUnreadLists = folder.hasUnread
            let gone =
                hasUnreadLists
                ? [] : absent.note(Set(missing), at: min(folder.listed ?? now, now))
            applyListing(present: present, gone: gone, changed: changed, now: now, to: &actions)
            if let shortage = folder.shortage { listDoubt = listDoubt ?? "some lists could not be read: \(shortage)" }
        }
        if unavailable != nil { absent.reset() }
        if isFirst { considerAll(now: now) }
        if unavailable == nil, !hasUnreadLists, !hasBrakedAtStart {
            hasBrakedAtStart = true
            brakeAtStart(now: now)
        }
    }

    /// When the folder is to be listed again for lists that are missing; `nil` if none are, or that happens anyway.
    var absentListsDue: Timestamp? { isLookWanted || isStopping || hasUnreadLists ? nil : absent.due }

    /// Has the folder listed again when lists have been missing for long enough: what was seen before says nothing of now.
    mutating func lookForAbsent(now: Timestamp, to actions: inout [Action]) {
        guard let due = absentListsDue, due <= now else { return }
        isLookWanted = true
        actions.append(.look)
    }

    /// Whether an icon is to be downloaded for a list alone: one that has another name now, say, waits for nothing.
    private func isNew(_ url: IconURL, in list: ListName) -> Bool {
        guard let icon = catalog.icons[url] else { return false }
        return !icon.hasImage && icon.lists == [list]
    }

    /// For how long a new list waits for its first icon, from when it came; to take in a thousand entries takes 10 to 20 ms.
    private static func timeForFirstIcons(of entries: Int) -> Duration { .milliseconds(250 + 20 * (entries / 1000)) }

    private mutating func applyListing(
        present: Set<ListName>, gone: Set<ListName>, changed: [ListName: ListReading], now: Timestamp,
        to actions: inout [Action]
    ) {
        var added: Set<IconURL> = []
        var reconsidered: Set<IconURL> = []
        var removed: Set<IconURL> = []
        let shown = catalog.shownImages
        for name in gone {
            let wasPublished = catalog.lists[name]?.published != nil
            let diff = catalog.removeList(name)
            rememberReading(of: name, now: now)
            forgetChanges(of: name)
            if wasPublished { window.noteChange(at: now) }
            removed.formUnion(diff.removed)
        }
        for (name, reading) in changed where present.contains(name) {
            switch reading.verdict {
            case .failure(let rejection):
                if catalog.lists[name]?.source == nil {
                    _ = catalog.setList(name, ListRecord(state: .rejected(rejection)))
                } else {
                    catalog.updateList(name) { $0.state = .lastGood(rejection) }
                }
            case .success(let list):
                let old = catalog.lists[name]
                let record = ListRecord(
                    state: .ok, source: reading.source, entries: list.entries, problems: list.problems, isRead: true,
                    published: old?.published)
                let diff = catalog.setList(name, record)
                if old?.known != record.known { rememberReading(of: name, now: now) }
                // A file that was only touched says nothing new.
                let isAsBefore = old?.source?.sha256 == record.source?.sha256 && old?.entries == record.entries
                if !isAsBefore {
                    readmit(name)
                    // A new list waits a moment for its first icons: what comes after a large document is long in coming.
                    let lacksSome = old == nil && diff.added.contains { isNew($0, in: name) }
                    markDirty(name, now: lacksSome ? now + Self.timeForFirstIcons(of: record.entries.count) : now)
                }
                if !diff.removed.isEmpty { rewrittenLists.insert(name) }
                added.formUnion(diff.added)
                reconsidered.formUnion(diff.expected.keys)
                removed.formUnion(diff.removed)
            }
        }
        listDoubt = doubt(about: present)
        brake(removed: removed, shown: shown, now: now)
        take(IconDiff(added: added, removed: removed), now: now, to: &actions)
        for url in reconsidered {
            forgetMismatch(url, now: now)
            consider(url, now: now)
        }
    }

    /// Acts on what lists name now and what they name no more.
    mutating func take(_ diff: IconDiff, now: Timestamp, to actions: inout [Action]) {
        // What waits already may be wanted by a shorter list now, or no more by the one that it counted for.
        let waiting = queue.isEmpty ? [] : diff.added.union(diff.removed).filter { catalog.icons[$0]?.isQueued == true }
        // What one list drops another one may have taken up: a renamed list cancels nothing.
        for url in diff.removed where catalog.icons[url]?.isReferenced == false {
            dereference(url, now: now, to: &actions)
        }
        for url in diff.added { consider(url, now: now) }
        for url in waiting { queue.move(url, to: catalog.shortestList(naming: url)) }
        discardUnnamedPartials(to: &actions)
    }

    /// Why it is not known what all lists name: one of them could not be read, for a reason that may pass.
    private func doubt(about present: Set<ListName>) -> String? {
        let unknown = present.lazy.filter { name in
            guard let list = catalog.lists[name] else { return true }
            return list.rejection.map { !ListVerdict.failure($0).isOfTheFile } ?? false
        }
        guard let name = unknown.min() else { return nil }
        return catalog.lists[name]?.rejection.map { "\(name): \($0.message)" }
            ?? "\(name) is still being written, or waits to be read"
    }

    /// Has an icon asked for at once whose image was not what the lists said, because they say something else now.
    private mutating func forgetMismatch(_ url: IconURL, now: Timestamp) {
        guard catalog.icons[url]?.failure?.code == FetchFailure.digestMismatch.code else { return }
        catalog.updateIcon(url) { $0.failure?.nextAttempt = now }
    }

    /// The last list that named a URL is gone: whatever is under way for it ends, and what is on disk is retired.
    private mutating func dereference(_ url: IconURL, now: Timestamp, to actions: inout [Action]) {
        guard let icon = catalog.icons[url] else { return }
        switch icon.phase {
        case .idle: break
        case .queued:
            queue.remove(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        case .fetching: actions.append(.cancel(url: url))
        case .crowdedOut:
            space.forget(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        }
        if let staged = icon.staged, publishing?.staged[url] == nil {
            stagedURLs.remove(url)
            catalog.updateIcon(url) { $0.staged = nil }
            actions.append(.discard([staged.name]))
        }
        forgetIfDone(url, now: now)
    }

    /// Forgets an icon that no list names and of which nothing is on disk or under way.
    mutating func forgetIfDone(_ url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url), !catalog.icons[place].icon.isReferenced else { return }
        let icon = catalog.icons[place].icon
        guard !icon.hasImage, !icon.hasStaged, icon.phase == .idle else { return }
        catalog.forgetIcon(url)
        remember(url, now: now)
    }
}
