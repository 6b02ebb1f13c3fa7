// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

/// All app lists and icons, and which lists name which icons.
struct Catalog: Sendable {
    private(set) var lists: [ListName: ListRecord] = [:]
    var icons = IconTable()
    var images = ImageTable()
    private(set) var pastIndex = PastIndex()
    var names = NameTable()
    private var lastTrail: FetchTrail?
    private(set) var retired: [IconURL: ImageID] = [:]
    /// Previous images on disk that no app shows any more, by source URL; other icons may show them again.
    private(set) var orphans: [IconURL: ImageID] = [:]
    /// Changes whenever a list changes, or other icons are retired.
    private(set) var version = 0
    private(set) var tally = CatalogTally()
    private(set) var tallies: [ListName: IconTally] = [:]

    /// Whether the `by-url/` name of an icon is in use.
    func needsName(of id: IconID) -> Bool {
        icons[id].icon.isReferenced
            && (icons[id].icon.hasImage || hasLastImages && isReplaced(icons.url(of: id)))
    }

    /// The images on disk that no list or app uses, by URL; O(*n*) in the number of unreferenced icons.
    var retiredImages: [IconURL: ImageID] {
        let orphans = orphans.filter { orphan(of: $0.key) != nil }
        return retired.merging(orphans) { own, _ in own }.filter { !images[$0.value].isShown }
    }

    /// The number of ``retiredImages``, at less cost.
    var retiredCount: Int {
        retired.values.count { !images[$0].isShown }
            + orphans.count { orphan(of: $0.key) != nil && !images[$0.value].isShown }
    }

    /// The orphaned image of a URL; `nil` if there is none, or the icon has an image of its own.
    func orphan(of url: IconURL) -> ImageID? { icons[url]?.hasImage == true ? nil : orphans[url] }

    var hasOrphans: Bool { !orphans.isEmpty }

    /// Records an image on disk that its icon or app no longer shows.
    mutating func recordOrphan(_ image: ImageID, of url: IconURL) {
        images.hold(image)
        images.release(orphans.updateValue(image, forKey: url))
    }

    /// Forgets orphaned images that are removed, damaged, or in use again; returns the URLs of the removed or damaged
    /// ones.
    @discardableResult
    mutating func forgetOrphans(of gone: Set<ImageID>) -> Set<IconURL> {
        var urls: Set<IconURL> = []
        for (url, image) in orphans where gone.contains(image) || images[image].isShown {
            if gone.contains(image) { urls.insert(url) }
            orphans[url] = nil
            images.release(image)
        }
        return urls
    }

    /// Forgets all orphaned images, so that no icon shows one again.
    mutating func forgetOrphans() { forgetOrphans(of: Set(orphans.values)) }

    /// The URLs that a list names, in its order.
    func urls(in list: ListName) -> [IconURL] { lists[list]?.apps.urls(icons.texts) ?? [] }

    /// The entries of a list, each with its URL.
    func entries(of list: ListName) -> AppEntries { lists[list]?.apps.entries(icons.texts) ?? [] }

    /// Changes the record of a list, except its entries.
    mutating func updateList(_ name: ListName, _ change: (inout ListRecord) -> Void) {
        guard var list = lists[name] else { return }
        let (icons, details) = (list.icons, list.apps.details)
        change(&list)
        assert(list.icons == icons && list.apps.details == details, "entries change through setList")
        lists[name] = list
    }

    /// Leaves the URLs of lists to the table of icons once no icon of theirs waits for an image: then their documents are
    /// no longer written again and again.
    mutating func endWaiting(of lists: some Sequence<ListName>) {
        for name in lists where self.lists[name]?.apps.urls != nil && !isWaiting(name) {
            self.lists[name]?.apps.urls = nil
        }
    }

    /// Whether an icon of a list has no image yet, and has not failed.
    private func isWaiting(_ list: ListName) -> Bool { tallies[list].map { $0.icons.pending > 0 } ?? false }

    /// Adds or replaces a list, whose apps have no past yet; `old` are the entries that it has, if the caller knows them.
    mutating func setList(
        _ name: ListName, _ list: ListRecord, _ entries: AppEntries = [], replacing old: AppEntries? = nil
    ) -> IconDiff {
        changePasts(in: name) { $0 = App.Past() }
        let (old, known) = (old ?? self.entries(of: name), lists[name]?.icons ?? [])
        let diff = IconDiff(from: old, to: entries)
        let new = entries.icons
        let differing = DifferingParts(of: old.count, and: new.count) { old.icons[$0] == new[$1] }
        let numbers: [IconID] =
            known[..<differing.old.lowerBound] + new[differing.new].map { id(of: $0) }
            + known[differing.old.upperBound...]
        var list = list
        list.apps = Apps(numbers, entries.details)
        lists[name] = list
        version += 1
        apply(diff, to: name)
        if isWaiting(name) { lists[name]?.apps.urls = new }
        return diff
    }

    mutating func removeList(_ name: ListName) -> IconDiff {
        changePasts(in: name) { $0 = App.Past() }
        let diff = IconDiff(from: entries(of: name), to: [])
        lists[name] = nil
        version += 1
        apply(diff, to: name)
        assert(
            tallies[name] == nil || tallies[name] == IconTally(), "what was counted for \(name) is counted out again")
        tallies[name] = nil
        return diff
    }

    /// Restores a list of the newest generation; `images` has the image of each entry, `nil` where there is none.
    mutating func restore(_ name: ListName, _ list: ListRecord, _ entries: AppEntries, images: [ImageID?]) {
        let alone = [name]
        var list = list
        let numbers = zip(entries.indices, images).map { position, image in
            let icon = id(of: entries.icons[position])
            let expected = entries.expected(at: position)
            apply(.listed(by: name, alone: alone, expected: expected, image: image), to: icon)
            return icon
        }
        list.apps = Apps(numbers, entries.details)
        lists[name] = list
        let isRepeating = tallies[name].map { $0.icons.total < list.icons.count } ?? true
        guard isRepeating else { return }
        tallies[name, default: IconTally()].setRepeats(in: list.icons) { [icons] in icons[$0].icon.shownStanding }
    }

    private mutating func apply(_ diff: IconDiff, to list: ListName) {
        for url in diff.removed { apply(.unnamed(by: list), to: url) }
        let named = lists[list]?.icons ?? []
        // A new list without duplicates adds as many URLs as it has entries.
        let mayRepeat = diff.added.count < named.count
        tallies[list, default: IconTally()].setRepeats(in: mayRepeat ? named : []) { [icons] id in
            icons[id].icon.lists.contains(list) ? icons[id].icon.shownStanding : nil
        }
        // Most icons are named by one list only, and share this array.
        let alone = [list]
        for url in diff.added { apply(.named(by: alone), to: url) }
        for (url, digests) in diff.expected { apply(.expected(digests, by: list), to: url) }
    }

    // MARK: Shown images

    /// Changes the past of an app, with all that follows from it; an app whose icon has an image shows no other.
    mutating func changePast(of app: AppIndex, _ change: (inout App.Past) -> Void) {
        guard let id = lists[app.list]?.icons[app.position], let old = lists[app.list]?.apps[past: app.position]
        else { return }
        let icon = icons.url(of: id)
        var new = old
        change(&new)
        if icons[id].icon.hasImage { new.last = nil }
        lists[app.list]?.apps[past: app.position] = new
        pastIndex.record(new, after: old, of: app, showing: icon)
        images.hold(new.before?.image)
        images.release(old.before?.image)
        guard new.last != old.last else { return }
        if let last = new.last { images.show(last.image) }
        if let last = old.last { images.hide(last.image) }
        names.review(icon, own: icons[id].icon.image, in: &images)
    }

    /// Changes the pasts of the apps of a list that have one.
    private mutating func changePasts(in list: ListName, _ change: (inout App.Past) -> Void) {
        let positions = lists[list]?.apps.pasts.map(\.position) ?? []
        for position in positions { changePast(of: AppIndex(list: list, position: position), change) }
    }

    /// Forgets the images before those that the newest manifest names, and those of the publication in flight.
    mutating func settlePasts(where isPublished: (ListName) -> Bool) {
        for list in pastIndex.unsettled where isPublished(list) {
            changePasts(in: list) { ($0.before, $0.coming) = (nil, nil) }
            pastIndex.unsettled.remove(list)
        }
    }

    /// The number of an icon; creates its record if the URL is unknown.
    mutating func id(of url: IconURL) -> IconID {
        icons.id(of: url, default: IconRecord(isInline: DataURL(url.text) != nil))
    }

    /// Applies an event to an icon; creates a record if the URL is unknown.
    mutating func apply(_ event: IconEvent, to url: IconURL) { apply(event, to: id(of: url)) }

    /// Returns the icon's facets before and after it.
    @discardableResult
    mutating func apply(_ event: IconEvent, to id: IconID) -> (before: IconFacets, after: IconFacets) {
        let before = facets(of: id)
        icons.apply(event, to: id)
        let after = facets(of: id)
        if before != after { recount(id, from: before, to: after) }
        return (before, after)
    }

    private func facets(of id: IconID) -> IconFacets {
        var facets = IconFacets(icons[id].icon)
        facets.bytes = bytes(of: facets)
        if facets.isRoutine { facets.isRoutine = icons[id].icon.acceptsImage(in: images) }
        return facets
    }

    private func bytes(of icon: IconFacets) -> Int { (icon.staged ?? icon.image).map(images.bytes) ?? 0 }

    /// Updates counts and indexes after a change of an icon.
    private mutating func recount(_ id: IconID, from before: IconFacets, to after: IconFacets) {
        if before.shown != after.shown {
            if let new = after.shown {
                images.show(new)
                // The icon's own image arrived.
                if hasLastImages { endReplacing(icons.url(of: id), published: before.staged == new) }
            }
            if let old = before.shown { images.hide(old) }
        }
        if before.retired != after.retired {
            retired[icons.url(of: id)] = after.retired
            images.hold(after.retired)
            images.release(before.retired)
            version += 1
        }
        if before.staged != after.staged {
            images.hold(after.staged)
            images.release(before.staged)
        }
        tally.recount(id, from: before, to: after)
        if !before.isGrouped(like: after) { tally.regroup(icons.url(of: id), from: before, to: after) }
        if before.lists == after.lists {
            for list in after.lists { tallies[list, default: IconTally()].recount(id, from: before, to: after) }
            return
        }
        // If only the lists changed, those before the first difference already count it.
        var moved = before
        moved.lists = after.lists
        let counted = moved == after ? zip(before.lists, after.lists).prefix { $0 == $1 }.count : 0
        for list in before.lists.dropFirst(counted) { tallies[list, default: IconTally()].count(before, at: id, -1) }
        for list in after.lists.dropFirst(counted) { tallies[list, default: IconTally()].count(after, at: id, 1) }
    }

    /// Returns a shared instance of the trail: consecutive trails are mostly equal, because they leave out the icon's
    /// own URL.
    mutating func share(_ trail: FetchTrail?) -> FetchTrail? {
        guard let trail else { return nil }
        if lastTrail != trail { lastTrail = trail }
        return lastTrail
    }

    mutating func forgetIcon(_ id: IconID) {
        let facets = facets(of: id)
        precondition(!facets.isReferenced, "a referenced icon is not forgotten")
        recount(id, from: facets, to: IconFacets(IconRecord()))
        icons.remove(id)
    }

    /// The shortest list that names an icon, for which its download counts; empty if none names it.
    ///
    /// - Complexity: O(*n*) in the number of these lists.
    func shortestList(naming id: IconID) -> ListName {
        let names = icons[id].icon.lists
        guard names.count > 1 else { return names.first ?? "" }
        return names.min { (length(of: $0), $0) < (length(of: $1), $1) } ?? ""
    }

    private func length(of list: ListName) -> Int { lists[list]?.icons.count ?? 0 }

    /// The current document of a list; `nil` if the list has no good version.
    ///
    /// Icons in `held` have their image on disk, if any, because their staged one is not published yet.
    func document(of name: ListName, without held: Set<IconID> = []) -> AppListDocument? {
        guard let list = lists[name], let source = list.source else { return nil }
        let entries = list.apps.entries(icons.texts)
        var apps = list.icons.indices.map {
            AppListDocument.App(entries[$0], state(of: list.icons[$0], without: held))
        }
        for (position, past) in list.apps.pasts {
            if let last = past.last { apps[position].show(last, images.image(last.image)) }
        }
        return AppListDocument(list: name, source: source, apps: apps)
    }

    private func state(of id: IconID, without held: Set<IconID>) -> AppListDocument.State {
        if !held.isEmpty, held.contains(id) {
            return icons[id].icon.image.map { .ready(images.image($0)) } ?? .pending
        }
        // Most are ready or pending: what tells that is read in place, without a copy of the record.
        if let shown = icons[id].icon.shownImage { return .ready(images.image(shown)) }
        return icons[id].icon.hasFailed ? icons[id].icon.state(in: images) : .pending
    }
}

extension AppListDocument.App {
    fileprivate init(_ entry: borrowing AppEntry, _ state: AppListDocument.State) {
        self.init(
            name: entry.name, id: entry.id, icon: entry.icon, download: entry.download, expected: entry.expected,
            state: state)
    }
}
