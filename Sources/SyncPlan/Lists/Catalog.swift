// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import HTTPRules

/// All app lists and all icons, and who names what.
package struct Catalog: Sendable {
    package private(set) var lists: [ListName: ListRecord] = [:]
    package private(set) var icons = IconTable()
    /// An image that referenced icons show.
    private struct Shown: Keyed {
        let image: Boxed<AppListDocument.Image>
        /// How many show it.
        var icons: Int32 = 0

        var key: Digest? { image.digest }
    }

    private var shown = KeyedTable<Shown>()
    /// The entries that show the last image of their app, because its icon has none yet.
    private(set) var previous = PreviousImages()
    /// The icons whose entries have shown something else since this was last taken, apart from images of their own.
    private var reshown: Set<IconURL> = []
    /// The trail that was shared last.
    private var lastTrail: FetchTrail?
    /// The images of icons that no list names.
    private(set) var retired: [IconURL: Boxed<AppListDocument.Image>] = [:]
    /// Images on disk without an icon of their own, by source URL: previous images that no app shows any more.
    ///
    /// Other icons may show some of them again.
    private var orphans: [IconURL: Boxed<AppListDocument.Image>] = [:]
    /// Damaged previous images that apps lost, until another icon has the same image.
    private var damagedPrevious: Set<Digest> = []
    /// Another number whenever lists name something else, or other icons are retired.
    private(set) var version = 0
    /// What there is to tell of all icons.
    package private(set) var tally = CatalogTally()
    /// What there is to tell of the icons of each list.
    package private(set) var tallies: [ListName: IconTally] = [:]

    package init() {}

    /// How many images referenced icons show, or their apps in place of them.
    package var shownImages: Int { shown.count }

    /// Whether a referenced icon shows the image, or an app in place of its icon's.
    package func needs(_ image: Digest) -> Bool { shown.index(of: image) != nil }

    /// Whether the URL's `by-url/` name is in use.
    package func needs(url: IconURL) -> Bool {
        guard let place = icons.index(of: url) else { return false }
        return icons[place].icon.isReferenced && (icons[place].icon.hasImage || previous.has(url))
    }

    /// The images on disk that no list or app uses, by URL.
    ///
    /// - Complexity: O(*n*) in the number of icons that no list names.
    var retiredImages: [IconURL: Boxed<AppListDocument.Image>] {
        retired.merging(orphans.filter { orphan(of: $0.key) != nil }) { own, _ in own }
            .filter { isUnused($0.value) }
    }

    /// The number of ``retiredImages``, at less cost.
    var retiredCount: Int {
        retired.values.count(where: isUnused) + orphans.count { orphan(of: $0.key) != nil && isUnused($0.value) }
    }

    private func isUnused(_ image: Boxed<AppListDocument.Image>) -> Bool { image.digest.map { !needs($0) } ?? false }

    /// The orphaned image of a URL; `nil` if there is none, or the icon has an image of its own.
    func orphan(of url: IconURL) -> Boxed<AppListDocument.Image>? {
        icons[url]?.hasImage == true ? nil : orphans[url]
    }

    var hasOrphans: Bool { !orphans.isEmpty }

    /// Records that the icon of an image is gone, while the image is still on disk.
    mutating func recordOrphan(_ image: Boxed<AppListDocument.Image>, of url: IconURL) { orphans[url] = image }

    /// Forgets orphaned images that are removed or damaged, and those that are in use again.
    ///
    /// - Returns: The URLs of those that are removed or damaged.
    @discardableResult
    mutating func forgetOrphans(of images: Set<Digest>) -> Set<IconURL> {
        let gone = Set(orphans.lazy.filter { $0.value.digest.map(images.contains) ?? true }.map(\.key))
        orphans = orphans.filter { !gone.contains($0.key) && isUnused($0.value) }
        return gone
    }

    /// Records that apps lost a previous image because it is damaged.
    mutating func recordDamagedPrevious(_ image: Digest) { damagedPrevious.insert(image) }

    /// Removes images from the damaged previous ones.
    ///
    /// - Returns: Those that were among them.
    mutating func removeDamagedPrevious(_ images: some Sequence<Digest>) -> Set<Digest> {
        guard !damagedPrevious.isEmpty else { return [] }
        let found = damagedPrevious.intersection(images)
        damagedPrevious.subtract(found)
        return found
    }

    /// Changes what is known of a list, its entries excepted.
    package mutating func updateList(_ name: ListName, _ change: (inout ListRecord) -> Void) {
        guard var list = lists[name] else { return }
        let entries = list.entries
        change(&list)
        assert(list.entries == entries, "entries change through setList")
        lists[name] = list
    }

    /// Puts a list in force, in place of its older version: none of its entries shows a previous image any more.
    package mutating func setList(_ name: ListName, _ list: ListRecord) -> IconDiff {
        removePrevious(of: name)
        let diff = IconDiff(from: lists[name]?.entries ?? [], to: list.entries)
        lists[name] = list
        version += 1
        apply(diff, to: name, entries: list.entries)
        return diff
    }

    /// Takes a list out.
    package mutating func removeList(_ name: ListName) -> IconDiff {
        removePrevious(of: name)
        let diff = IconDiff(from: lists.removeValue(forKey: name)?.entries ?? [], to: [])
        version += 1
        apply(diff, to: name, entries: [])
        assert(
            tallies[name] == nil || tallies[name] == IconTally(), "what was counted for \(name) is counted out again")
        tallies[name] = nil
        return diff
    }

    /// Puts a list in force that the newest generation names.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - list: The list.
    ///   - images: The image of each of its entries; `nil` where there is none.
    mutating func restore(_ name: ListName, _ list: ListRecord, images: [Boxed<AppListDocument.Image>?]) {
        lists[name] = list
        let alone = [name]
        for (entry, image) in zip(list.entries, images) {
            _ = apply(.listed(by: name, alone: alone, expected: entry.expected, image: image), to: entry.icon)
        }
        let isRepeating = tallies[name].map { $0.icons.total < list.entries.count } ?? true
        guard isRepeating else { return }
        tallies[name, default: IconTally()].setRepeats(in: list.entries) { [icons] in icons[$0]?.standing }
    }

    private mutating func apply(_ diff: IconDiff, to list: ListName, entries: [AppEntry]) {
        for url in diff.removed { _ = apply(.unnamed(by: list), to: url) }
        // A new list that names nothing twice adds as many URLs as it has entries.
        let mayRepeat = diff.added.count < entries.count
        tallies[list, default: IconTally()].setRepeats(in: mayRepeat ? entries : []) { [icons] url in
            icons[url].flatMap { $0.lists.contains(list) ? $0.standing : nil }
        }
        // Most icons are named by one list alone: there is one such array for all of them.
        let alone = [list]
        for url in diff.added { _ = apply(.named(by: alone), to: url) }
        for (url, digest) in diff.expected { _ = apply(.expected(digest, by: list), to: url) }
    }

    // MARK: Previous images

    /// Has entries of a list show the last images of their apps, as far as their icons have none.
    mutating func setPrevious(_ images: [Int: PreviousImage], in list: ListName) {
        guard !images.isEmpty, let entries = lists[list]?.entries else { return }
        for (entry, image) in images where entries.indices.contains(entry) {
            let icon = entries[entry].icon
            guard icons[icon]?.hasImage != true else { continue }
            if let last = previous.of(entry, in: list) { show(last.image, -1) }
            show(image.image, 1)
            previous.set(image, for: icon, at: entry, in: list)
            reshown.insert(icon)
        }
    }

    /// Takes out what entries of a list show that have no image of their own.
    mutating func removePrevious(of list: ListName) {
        guard let images = previous.entries[list] else { return }
        for (entry, image) in images {
            show(image.image, -1)
            if let icon = lists[list]?.entries[entry].icon { reshown.insert(icon) }
        }
        previous.remove(list)
    }

    /// Takes out what is shown in place of an icon.
    mutating func removePrevious(of icon: IconURL) {
        let gone = previous.remove(icon)
        for image in gone { show(image.image, -1) }
        if !gone.isEmpty { reshown.insert(icon) }
    }

    /// Has the next publication set the `by-url/` name of an icon.
    mutating func requestNaming(_ icon: IconURL) { reshown.insert(icon) }

    /// The `by-url/` name of an icon already leads to its own image.
    mutating func cancelNaming(_ icon: IconURL) { reshown.remove(icon) }

    /// Takes the icons in whose place something else is shown since this was last called.
    mutating func takeReshown() -> Set<IconURL> {
        defer { reshown = [] }
        return reshown
    }

    /// Counts what shows an image in, or out again.
    private mutating func show(_ image: Boxed<AppListDocument.Image>, _ sign: Int32) {
        shown.update(image.digest, default: Shown(image: image)) { $0.icons += sign }
        if shown[image.digest]?.icons == 0 { shown.remove(image.digest) }
    }

    /// Changes an icon by an event; a URL that is not known gets a record.
    package mutating func apply(_ event: IconEvent, to url: IconURL) -> IconChange {
        let (before, change, after) = icons.update(url, default: IconRecord(isInline: DataURL(url.text) != nil)) {
            icon in
            let before = Counted(icon)
            let change = icon.apply(event)
            return (before, change, Counted(icon))
        }
        recount(url, before, after)
        return change
    }

    /// What is counted of an icon, or kept beside its record.
    private struct Counted {
        /// The image that it shows lists.
        let shown: Boxed<AppListDocument.Image>?
        let retired: Boxed<AppListDocument.Image>?
        let mark: IconMark

        init(_ icon: IconRecord) {
            shown = icon.isReferenced && icon.hasImage ? icon.boxedImage : nil
            retired = icon.isRetired ? icon.boxedImage : nil
            mark = IconMark(icon)
        }
    }

    /// Counts an icon as it is now, and no longer as it was.
    private mutating func recount(_ url: IconURL, _ old: Counted, _ new: Counted) {
        if old.shown?.digest != new.shown?.digest {
            if let image = new.shown {
                show(image, 1)
                // Its own image has come.
                if !previous.isEmpty { removePrevious(of: url) }
            }
            if let image = old.shown { show(image, -1) }
        }
        if old.retired != nil || new.retired != nil {
            retired[url] = new.retired
            version += 1
        }
        let marks = (before: old.mark, after: new.mark)
        guard marks.before != marks.after else { return }
        tally.regroup(url, from: marks.before, to: marks.after)
        tally.count(marks.before, at: url, -1)
        tally.count(marks.after, at: url, 1)
        var moved = marks.before
        moved.lists = marks.after.lists
        // Where only the lists are others, those before the first difference count it already.
        let counted = moved == marks.after ? zip(marks.before.lists, marks.after.lists).prefix { $0 == $1 }.count : 0
        for list in marks.before.lists.dropFirst(counted) {
            tallies[list, default: IconTally()].count(marks.before, at: url, -1)
        }
        for list in marks.after.lists.dropFirst(counted) {
            tallies[list, default: IconTally()].count(marks.after, at: url, 1)
        }
    }

    /// The trail as it is kept: most are the same but for the icon's own URL, and are in memory once.
    mutating func share(_ trail: FetchTrail?) -> FetchTrail? {
        guard let trail else { return nil }
        if lastTrail != trail { lastTrail = trail }
        return lastTrail
    }

    /// Forgets an icon that no list names.
    package mutating func forgetIcon(_ url: IconURL) {
        guard let icon = icons.remove(url) else { return }
        precondition(!icon.isReferenced, "a referenced icon is not forgotten")
        recount(url, Counted(icon), Counted(IconRecord()))
    }

    /// The shortest of the lists that name a URL: what is done for it counts for this one; empty if none names it.
    ///
    /// - Complexity: O(*n*) in the number of these lists.
    package func shortestList(naming url: IconURL) -> ListName {
        let names = icons[url]?.lists ?? []
        guard names.count > 1 else { return names.first ?? "" }
        return names.min { (length(of: $0), $0) < (length(of: $1), $1) } ?? ""
    }

    private func length(of list: ListName) -> Int { lists[list]?.entries.count ?? 0 }

    /// The document of a list as it stands.
    ///
    /// - Parameters:
    ///   - name: The list.
    ///   - held: The URLs whose staged images are not to be published yet.
    /// - Returns: `nil` if the list has no good version.
    package func document(of name: ListName, without held: Set<IconURL> = []) -> AppListDocument? {
        guard let list = lists[name], let source = list.source else { return nil }
        var apps: [AppListDocument.App] = []
        apps.reserveCapacity(list.entries.count)
        for entry in list.entries {
            apps.append(
                AppListDocument.App(
                    name: entry.name, id: entry.id, icon: entry.icon, download: entry.download,
                    expected: entry.expected, state: state(of: entry.icon, without: held)))
        }
        for (entry, last) in previous.entries[name] ?? [:] { apps[entry].show(last) }
        return AppListDocument(list: name, source: source, apps: apps)
    }

    private func state(of url: IconURL, without held: Set<IconURL>) -> AppListDocument.State {
        guard let place = icons.index(of: url) else { return .pending }
        if !held.isEmpty, held.contains(url), let image = icons[place].icon.image { return .ready(image) }
        return icons[place].icon.state
    }
}

extension AppListDocument.App {
    /// Has an entry whose icon has no image show the last image of its app.
    fileprivate mutating func show(_ last: PreviousImage) {
        let error: String?
        switch state {
        case .ready: return
        case .pending: error = nil
        case .failed(let code): error = code
        }
        guard let image = last.image.wrappedValue else { return }
        state = .ready(image)
        previous = AppListDocument.Previous(icon: last.url, since: last.since, error: error)
    }
}
