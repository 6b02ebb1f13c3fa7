// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
import HTTPRules
import Reports

// What lists name, and what follows for icons.
extension Reconciler {
    /// Whether a version of a list is in force, be it the last good one.
    package func hasGoodVersion(of list: ListName) -> Bool { catalog.lists[list]?.source != nil }

    mutating func applyScan(_ scan: ListScan, now: Timestamp, to actions: inout [Action]) {
        let isFirst = !folder.isScanned
        cache.suspect(isComplete: false)
        // What was told of a list is known of it, also where there was no good version before a restart.
        let known = Set(catalog.lists.keys).union(rejections.keys).subtracting([Self.pinList])
        let gone = folder.note(scan, known: known, at: now)
        if let gone, case .listed(let found, let present, let changed) = scan {
            if publishing.manifest == nil, publishing.inFlight == nil { publishing.noteChange(at: now) }
            applyListing(present: present, gone: gone, changed: changed, now: now, to: &actions)
            if let shortage = found.shortage {
                folder.note(shortage: shortage)
            }
        }
        if isFirst { considerAll(now: now) }
        if folder.isRead { retention.noteStart(newest: publishing.newest, in: catalog, at: now) }
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
        // The apps of the other removed ones have other URLs.
        var lost = LostApps()
        let shown = catalog.shownImages
        let retired = retiredIcons(in: changed)
        for name in gone {
            if forgetRejection(of: name, now: now) || catalog.lists[name] != nil { events.append(.listRemoved(name)) }
            let wasPublished = catalog.lists[name]?.published != nil
            let previous = replaceable(name)?.previous.values.map(\.self) ?? []
            let diff = catalog.removeList(name)
            unstored.note(list: name, at: now)
            forgetChanges(of: name)
            if wasPublished { publishing.noteChange(at: now) }
            removed.formUnion(diff.removed)
            lost.formUnion(LostApps(icons: diff.removed, previous: previous))
        }
        for (name, reading) in changed where present.contains(name) {
            switch reading.verdict {
            case .failure(let rejection):
                tell(rejection, of: name, now: now)
                if catalog.lists[name]?.source == nil {
                    _ = catalog.setList(name, ListRecord(state: .rejected(rejection)))
                } else {
                    catalog.updateList(name) { $0.state = .lastGood(rejection) }
                }
            case .success(let list):
                let old = catalog.lists[name]
                let replaced = replaceable(name)
                let record = ListRecord(
                    state: .ok, source: reading.source, entries: list.entries, problems: list.problems, isRead: true,
                    published: old?.published)
                let diff = catalog.setList(name, record)
                if let replaced { lost.formUnion(keepImages(of: name, from: replaced, diff, now: now)) }
                showAgain(in: name)
                if old?.known != record.known { unstored.note(list: name, at: now) }
                // A file that was only touched says nothing new.
                let isAsBefore = old?.source?.sha256 == record.source?.sha256 && old?.entries == record.entries
                if forgetRejection(of: name, now: now) || !isAsBefore {
                    let (apps, problems) = (list.entries.count, list.problems.count)
                    events.append(.listAccepted(name, apps: apps, problems: problems))
                }
                if !isAsBefore {
                    retryDocument(of: name)
                    // A new list waits a moment for its first icons: what comes after a large document is long in coming.
                    let lacksSome = old == nil && diff.added.contains { isNew($0, in: name) }
                    publishing.noteChange(
                        of: name, at: lacksSome ? now + Self.timeForFirstIcons(of: record.entries.count) : now)
                }
                if !diff.removed.isEmpty { publishing.noteRewritten(name) }
                added.formUnion(diff.added)
                reconsidered.formUnion(diff.expected.keys)
                removed.formUnion(diff.removed)
            }
        }
        folder.note(doubt: doubt(about: present))
        retention.noteChange(
            losing: lost.icons, lost.previous, replacing: removed.subtracting(lost.icons), shown: shown,
            newest: publishing.newest, in: catalog, at: now)
        noteRetired(lost.previous + lost.replaced)
        noteReturn(of: retired)
        take(IconDiff(added: added, removed: removed), now: now, to: &actions)
        for url in reconsidered {
            forgetMismatch(url, now: now)
            consider(url, now: now)
        }
    }

    /// Acts on what lists name now and what they name no more.
    mutating func take(_ diff: IconDiff, now: Timestamp, to actions: inout [Action]) {
        returnImages(to: diff.added, now: now)
        // What waits already may be wanted by a shorter list now, or no more by the one that it counted for.
        let waiting =
            downloads.queue.isEmpty ? [] : diff.added.union(diff.removed).filter { catalog.icons[$0]?.isQueued == true }
        // What one list drops another one may have taken up: a renamed list cancels nothing.
        for url in diff.removed where catalog.icons[url]?.isReferenced == false {
            if let image = catalog.icons[url]?.boxedImage.digest, !catalog.needs(image) {
                events.append(.iconRetired(url))
            }
            dereference(url, now: now, to: &actions)
        }
        for url in diff.added { consider(url, now: now) }
        for url in waiting { downloads.move(url, to: catalog.shortestList(naming: url)) }
        let unnamed = partials.forget { url in
            guard let icon = catalog.icons[url] else { return true }
            // What is still being downloaded is seen to when that ends.
            return !icon.isReferenced && icon.phase != .fetching
        }
        if let unnamed { actions.append(.background(.discardPartials(unnamed))) }
    }

    /// Why it is not known what all lists name: one of them could not be read, for a reason that may pass, or is yet to be.
    private func doubt(about present: Set<ListName>) -> ListDoubt? {
        let unreadable = present.lazy.filter { catalog.lists[$0]?.rejection?.isOfTheFile == false }
        if let name = unreadable.min(), let rejection = catalog.lists[name]?.rejection {
            return .unreadable("\(name): \(rejection.message)")
        }
        return present.lazy.filter { catalog.lists[$0] == nil }.min().map(ListDoubt.unread)
    }

    /// Has an icon asked for at once whose image was not what the lists said, because they say something else now.
    private mutating func forgetMismatch(_ url: IconURL, now: Timestamp) {
        guard catalog.icons[url]?.failure?.code == .fetch(.digestMismatch) else { return }
        catalog.updateIcon(url) { $0.failure?.nextAttempt = now }
    }

    /// The last list that named a URL is gone: whatever is under way for it ends, and what is on disk is retired.
    private mutating func dereference(_ url: IconURL, now: Timestamp, to actions: inout [Action]) {
        guard let icon = catalog.icons[url] else { return }
        switch icon.phase {
        case .idle: break
        case .queued:
            downloads.remove(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        case .fetching: actions.append(.cancel(url: url))
        case .waitingForSpace:
            space.forget(url)
            catalog.updateIcon(url) { $0.phase = .idle }
        }
        if let staged = icon.staged, publishing.inFlight?.staged[url] == nil {
            publishing.unstage(url)
            catalog.updateIcon(url) { $0.staged = nil }
            actions.append(.background(.discard([staged.name])))
        }
        forgetIfDone(url, now: now)
    }

    /// Forgets an icon that no list names and of which nothing is on disk or under way.
    mutating func forgetIfDone(_ url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url), !catalog.icons[place].icon.isReferenced else { return }
        let icon = catalog.icons[place].icon
        if icon.phase == .idle { sources.forget(url) }
        guard !icon.hasImage, !icon.hasStaged, icon.phase == .idle else { return }
        catalog.forgetIcon(url)
        unstored.note(icon: url, at: now)
    }

    /// Forgets what was to be published of a list that is gone.
    mutating func forgetChanges(of list: ListName) {
        space.forgetDocument(of: list)
        if publishing.forget(list) { noteStagedImages() }
    }

    /// Has a list's document tried again, for which there was no room: it is another one now.
    mutating func retryDocument(of list: ListName) {
        guard space.documents[list] != nil else { return }
        space.forgetDocument(of: list)
        publishing.deferLists(Set(space.documents.keys))
        noteStagedImages()
    }

    // MARK: Pins

    /// The name of that list, which no file can have.
    package static let pinList: ListName = "pins"

    /// The pinned URLs, in the order in which they were pinned.
    package var pins: [IconURL] { catalog.lists[Self.pinList]?.entries.map(\.icon) ?? [] }

    /// Whether the newest manifest has the pins as they are.
    package var arePinsPublished: Bool {
        folder.isScanned && !publishing.isToBePublished(Self.pinList)
            && (publishing.manifest?.lists[Self.pinList] == nil) == pins.isEmpty
    }

    /// What keeps a URL from being pinned, as a clause; `nil` if nothing does.
    ///
    /// Whether it can be fetched with these settings is not asked here: that may change.
    package static func flaw(inPin url: IconURL) -> String? {
        if let flaw = AppEntry.flaw(inIcon: url.text) { return flaw.description }
        do {
            _ = try IconSource(url)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The same with what is pinned already: there are no more pins than a list may have entries.
    package func flaw(inPin url: IconURL) -> String? {
        let (pins, limit) = (pins, settings.lists.maxEntries)
        guard pins.count < limit || pins.contains(url) else {
            return "\(limit) icons are pinned, and lists.maxEntries allows no more"
        }
        return Self.flaw(inPin: url)
    }

    mutating func pin(_ url: IconURL, _ isPinned: Bool, now: Timestamp, to actions: inout [Action]) {
        guard pins.contains(url) != isPinned else { return }
        let urls = isPinned ? pins + [url] : pins.filter { $0 != url }
        events.append(isPinned ? .pinned(url) : .unpinned(url))
        let retired: Set<IconURL> = isPinned && catalog.retired[url] != nil ? [url] : []
        let diff: IconDiff
        if urls.isEmpty {
            diff = catalog.removeList(Self.pinList)
            forgetChanges(of: Self.pinList)
            publishing.noteChange(at: now)
        } else {
            let text = urls.map(\.text).joined(separator: "\n")
            let source = AppListDocument.Source(
                sha256: .of(text), bytes: text.utf8.count, modified: now.inWholeSeconds)
            diff = catalog.setList(
                Self.pinList,
                ListRecord(
                    state: .ok, source: source, entries: urls.map { AppEntry(icon: $0) },
                    published: catalog.lists[Self.pinList]?.published))
            retryDocument(of: Self.pinList)
            publishing.noteChange(of: Self.pinList, at: now)
            if !isPinned { publishing.noteRewritten(Self.pinList) }
        }
        noteReturn(of: retired)
        take(diff, now: now, to: &actions)
    }
}
