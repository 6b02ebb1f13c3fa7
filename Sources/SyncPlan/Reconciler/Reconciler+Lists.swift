// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
package import CacheFormat
import Fleet
import HTTPRules
import Reports

// Lists and pins, and their consequences for icons.
extension Reconciler {
    /// Whether a version of a list is in force, possibly an older one than its file.
    package func hasGoodVersion(of list: ListName) -> Bool { book.catalog.lists[list]?.hasGoodVersion == true }

    mutating func applyScan(_ scan: ListScan) {
        let scan = keepingReplacedLists(scan)
        let isFirst = !folder.isScanned
        cache.suspect(isComplete: false)
        // Lists with reported rejections are known, even if a restart left no good version.
        let known = Set(book.catalog.lists.keys).union(rejections.keys).subtracting([Self.pinList])
        // Without the state of an earlier run, lists of upstreams are known from the cache alone until they give them again.
        let (upstream, isAwaiting) = (book.settings.upstream, !book.sources.haveAllAnswered)
        let gone = folder.record(
            scan, known: known, isAwaited: { isAwaiting && upstream.adopts($0) }, at: turn.now)
        if case .listed(let found, let present, let changed) = scan {
            let readings = withheld.merging(changed) { $1 }.filter { present.contains($0.key) }
            // No later scan reports them again.
            withheld = gone == nil ? readings : [:]
            if let gone { applyListing(found, present: present, gone: gone, changed: readings) }
        }
        if isFirst { book.decideAll(in: &turn) }
        if folder.isRead {
            book.retention.recordStart(newest: book.publishing.newest, in: book.catalog, at: turn.now)
        }
    }

    /// Treats an entry that replaced a list's file, such as a folder, like a damaged version of the list.
    private func keepingReplacedLists(_ scan: ListScan) -> ListScan {
        guard case .listed(let folder, var present, var changed) = scan else { return scan }
        for name in folder.others where hasGoodVersion(of: name) {
            present.insert(name)
            changed[name] = ListReading(source: nil, verdict: .failure(.notARegularFile))
        }
        return .listed(folder, present: present, changed: changed)
    }

    /// The changes of all lists in a listing.
    private struct ListChanges {
        var added: Set<IconURL> = []
        var removed: Set<IconURL> = []
        /// Icons whose expected digests changed.
        var expected: Set<IconURL> = []
        var lost = IconBook.LostApps()
        /// Whether a file gave other images to relative icon names.
        var images = false
    }

    private mutating func applyListing(
        _ found: ListedFolder, present: Set<ListName>, gone: Set<ListName>, changed: [ListName: ListReading]
    ) {
        let shown = book.catalog.images.shown
        let retired = book.retiredIcons(in: changed)
        var changes = ListChanges()
        for name in gone.sorted() { remove(name, &changes) }
        for (name, reading) in changed.sorted(by: { $0.key < $1.key }) {
            switch reading.verdict {
            case .failure(let rejection): reject(name, rejection)
            case .success(let list): accept(name, list, reading, &changes)
            }
        }
        folder.doubt = doubt(about: present)
        folder.isReading = present.contains { book.catalog.lists[$0] == nil }
        if let shortage = found.shortage { folder.record(shortage: shortage) }
        let lost = changes.lost
        book.retention.recordLoss(
            of: lost.icons, lost.lastImages, replacing: changes.removed.subtracting(lost.icons), shown: shown,
            newest: book.publishing.newest, in: book.catalog, at: turn.now)
        book.retire(lost.lastImages + lost.replaced, in: &turn)
        book.emitReturned(retired, in: &turn)
        applyDiff(IconDiff(added: changes.added, removed: changes.removed))
        book.giveUpRefused(changes.expected, in: &turn)
        for url in changes.expected { book.retry(url, after: .digestMismatch, in: &turn) }
        if changes.images { book.setRepository(in: &turn) }
        // A generation without lists says that there are none, but a new list may wait for its first icons.
        if book.publishing.manifest == nil, book.publishing.inFlight == nil, !folder.isReading,
            book.publishing.window.hasNoChangedList
        {
            book.publishing.window.markChanged(at: turn.now)
        }
    }

    private mutating func applyDiff(_ diff: IconDiff) {
        book.applyDiff(diff, in: &turn)
        // A list that is not read yet may name the icon of a partial image.
        if folder.isRead, folder.doubt == nil { book.discardUnnamedParts(in: &turn) }
    }

    private mutating func remove(_ name: ListName, _ changes: inout ListChanges) {
        if forgetRejection(of: name) || book.catalog.lists[name] != nil { turn.emit(.listRemoved(name)) }
        let old = book.catalog.lists[name]
        if old?.images != nil { changes.images = true }
        let diff = forgetList(name, isPublished: old?.published != nil)
        turn.memos.mark(.list(name), at: turn.now)
        changes.removed.formUnion(diff.removed)
        changes.expected.formUnion(diff.expected.keys)
        // The icons of a removed list count as lost, unlike URLs that a new version of a list replaces.
        changes.lost.icons.formUnion(diff.removed)
        changes.lost.lastImages += old?.apps.lastImages ?? []
    }

    /// Forgets a list, which the next manifest lacks if it is published; returns the URLs that it named.
    private mutating func forgetList(_ name: ListName, isPublished: Bool) -> IconDiff {
        let diff = book.catalog.removeList(name)
        book.changeKeys(diff, of: name, in: &turn)
        book.forgetDocument(of: name)
        if isPublished { book.publishing.window.markChanged(at: turn.now) }
        return diff
    }

    private mutating func reject(_ name: ListName, _ rejection: ListRejection) {
        emitRejection(rejection, of: name)
        if !hasGoodVersion(of: name) {
            _ = book.catalog.setList(name, ListRecord(state: .rejected(rejection)))
        } else {
            book.catalog.updateList(name) { $0.state = .lastGood(rejection) }
            // The settings may have changed, and not the file.
            turn.memos.mark(.list(name), at: turn.now)
        }
    }

    private mutating func accept(
        _ name: ListName, _ list: AppList, _ reading: ListReading, _ changes: inout ListChanges
    ) {
        guard list.images == nil else { return acceptImages(of: list, in: name, &changes) }
        let (old, last) = (book.catalog.lists[name], book.catalog.entries(of: name))
        let list = list.withoutBlankIdentities(since: last).keepingIcons(of: last, strays: old?.strays ?? 0)
        let entries = AppEntries(list.entries)
        let record = ListRecord(
            state: .ok, source: reading.source, problems: list.problems, strays: list.unusable.count { $0.isNameless },
            kept: StatusReport.List.Kept(of: list), isRead: true, published: old?.published)
        if old?.images != nil { changes.images = true }
        let diff = book.catalog.setList(name, record, entries, replacing: last)
        book.changeKeys(diff, of: name, in: &turn)
        if let old, old.source != nil {
            book.keepImages(of: name, from: old.apps, last, to: entries, diff, &changes.lost, in: &turn)
        }
        book.showAgain(in: name, &turn)
        let hasSameEntries = old != nil && last == entries
        if old?.known != record.known || record.known != nil && !hasSameEntries {
            turn.memos.mark(.list(name), at: turn.now)
        }
        // The file's contents are unchanged; only its times are new.
        let isUnchanged = old?.source?.sha256 == record.source?.sha256 && hasSameEntries
        if forgetRejection(of: name) || !isUnchanged {
            turn.emit(.listAccepted(name, apps: list.entries.count, problems: list.problems.count))
        }
        if !isUnchanged {
            book.retryDocument(of: name)
            book.refuseCopies(for: name)
            // A new list waits briefly for its first icons: after a large document, the next publication takes long.
            let lacksSome = old == nil && diff.added.contains { isNew($0, in: name) }
            let wait = lacksSome ? Self.timeForFirstIcons(of: entries.count) : .zero
            book.publishing.window.markChanged(name, at: turn.now + wait)
        }
        if !diff.removed.isEmpty { book.publishing.prioritize(name) }
        changes.added.formUnion(diff.added)
        changes.expected.formUnion(diff.expected.keys)
        changes.removed.formUnion(diff.removed)
    }

    /// Accepts a file that names images but no apps; no document is published for it.
    private mutating func acceptImages(of list: AppList, in name: ListName, _ changes: inout ListChanges) {
        // The list had apps in its last version.
        if book.catalog.lists[name]?.source != nil { remove(name, &changes) }
        let isUnchanged = book.catalog.lists[name]?.images == list.images
        let record = ListRecord(state: .ok, problems: list.problems, images: list.images, isRead: true)
        _ = book.catalog.setList(name, record)
        if forgetRejection(of: name) || !isUnchanged {
            turn.emit(.listAccepted(name, apps: 0, problems: list.problems.count))
        }
        if !isUnchanged { changes.images = true }
    }

    /// Whether an icon must be downloaded, for this list only.
    private func isNew(_ url: IconURL, in list: ListName) -> Bool {
        guard let icon = book.catalog.icons[url] else { return false }
        return !icon.hasImage && icon.lists == [list]
    }

    /// How long a new list waits for its first icon; reading a thousand entries takes 10 to 20 ms.
    private static func timeForFirstIcons(of entries: Int) -> Duration { .milliseconds(250 + 20 * (entries / 1000)) }

    /// The reason why the contents of all lists are not known: a list was not read yet, or could not be, for a reason
    /// that may pass.
    private func doubt(about present: Set<ListName>) -> ListDoubt? {
        let lists = book.catalog.lists
        if let name = present.lazy.filter({ lists[$0]?.rejection?.isOfTheFile == false }).min(),
            let rejection = lists[name]?.rejection
        {
            return .unreadable("\(name): \(rejection.message)")
        }
        return present.lazy.filter { lists[$0] == nil }.min().map(ListDoubt.unread)
    }

    // MARK: Rejections

    /// Emits an event for a rejected file, unless it was reported before with the same reason.
    private mutating func emitRejection(_ rejection: ListRejection, of name: ListName) {
        let memo = RejectionMemo(
            list: name, code: rejection.code.rawValue, message: rejection.message, isKept: hasGoodVersion(of: name))
        guard rejections.updateValue(memo, forKey: name) != memo else { return }
        turn.memos.mark(.rejection(name), at: turn.now)
        turn.emit(memo.isKept ? .listKept(name, rejection) : .listRejected(name, rejection))
    }

    /// Forgets the rejection of a list's file; returns whether it was reported.
    private mutating func forgetRejection(of name: ListName) -> Bool {
        guard rejections.removeValue(forKey: name) != nil else { return false }
        turn.memos.mark(.rejection(name), at: turn.now)
        return true
    }

    // MARK: Pins

    /// The name of the list of pins, which no file can have.
    package static let pinList: ListName = "pins"

    /// The pinned URLs, in the order in which they were pinned.
    package var pins: [IconURL] { book.catalog.urls(in: Self.pinList) }

    /// Whether the newest manifest has the current pins.
    package var arePinsPublished: Bool {
        folder.isScanned && isWritten(Self.pinList)
            && (book.publishing.manifest?.lists[Self.pinList] == nil) == pins.isEmpty
    }

    /// The reason why a URL cannot be pinned, as a clause; `nil` if it can.
    ///
    /// Settings that forbid the URL's download do not count: they may change.
    package static func flaw(inPin url: IconURL) -> String? {
        if let flaw = AppEntry.flaw(inIcon: url.text) { return flaw.description }
        do {
            _ = try IconSource(url)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The reason why a URL cannot be pinned now: also if there are as many pins as entries in a list
    /// (`lists.maxEntries`).
    package func flaw(inPin url: IconURL) -> String? {
        let (pins, limit) = (pins, book.settings.lists.maxEntries)
        guard pins.count < limit || pins.contains(url) else {
            return "\(limit) icons are pinned, and lists.maxEntries allows no more"
        }
        return Self.flaw(inPin: url)
    }

    mutating func pin(_ url: IconURL, _ isPinned: Bool) {
        guard pins.contains(url) != isPinned else { return }
        let urls = isPinned ? pins + [url] : pins.filter { $0 != url }
        turn.emit(isPinned ? .pinned(url) : .unpinned(url))
        let shown = book.catalog.images.shown
        defer { book.retention.recordUnpinning(from: shown, in: book.catalog) }
        let retired: Set<IconURL> = isPinned && book.catalog.icons[url]?.isRetired == true ? [url] : []
        guard !urls.isEmpty else { return unpinAll() }
        let text = urls.map(\.text).joined(separator: "\n")
        let source = AppListDocument.Source(
            sha256: .of(text), bytes: text.utf8.count, modified: turn.now.inWholeSeconds)
        let record = ListRecord(
            state: .ok, source: source, published: book.catalog.lists[Self.pinList]?.published)
        let diff = book.catalog.setList(Self.pinList, record, AppEntries(urls.map { AppEntry(icon: $0) }))
        book.retryDocument(of: Self.pinList)
        book.publishing.window.markChanged(Self.pinList, at: turn.now)
        if !isPinned { book.publishing.prioritize(Self.pinList) }
        book.changeKeys(diff, of: Self.pinList, in: &turn)
        book.emitReturned(retired, in: &turn)
        applyDiff(diff)
    }

    mutating func unpinAll() {
        guard book.catalog.lists[Self.pinList] != nil else { return }
        applyDiff(forgetList(Self.pinList, isPublished: true))
    }
}
