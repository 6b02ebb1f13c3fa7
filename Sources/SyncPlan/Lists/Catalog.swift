// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// All app lists and all icons, and who names what.
package struct Catalog: Sendable {
    package private(set) var lists: [ListName: ListRecord] = [:]
    package private(set) var icons: [IconURL: IconRecord] = [:]
    /// How many referenced icons show an image.
    private var users: [Digest: Int] = [:]
    /// The images of icons that no list names.
    private(set) var retired: [IconURL: Boxed<AppListDocument.Image>] = [:]
    /// What there is to tell of all icons.
    package private(set) var tally = CatalogTally()
    /// What there is to tell of the icons of each list.
    package private(set) var tallies: [ListName: IconTally] = [:]

    package init() {}

    /// How many images referenced icons show.
    package var shownImages: Int { users.count }

    /// Whether a referenced icon shows the image.
    package func needs(_ image: Digest) -> Bool { users[image] != nil }

    /// Whether the URL's `by-url/` name is in use.
    package func needs(url: IconURL) -> Bool {
        guard let icon = icons[url] else { return false }
        return icon.isReferenced && icon.image != nil
    }

    /// Changes what is known of a list, its entries excepted.
    package mutating func updateList(_ name: ListName, _ change: (inout ListRecord) -> Void) {
        guard var list = lists[name] else { return }
        let entries = list.entries
        change(&list)
        assert(list.entries == entries, "entries change through setList")
        lists[name] = list
    }

    /// Puts a list in force, in place of its older version.
    package mutating func setList(_ name: ListName, _ list: ListRecord) -> IconDiff {
        let diff = IconDiff(from: lists[name]?.entries ?? [], to: list.entries)
        lists[name] = list
        rename(diff, in: name, entries: list.entries)
        return diff
    }

    /// Takes a list out.
    package mutating func removeList(_ name: ListName) -> IconDiff {
        let diff = IconDiff(from: lists.removeValue(forKey: name)?.entries ?? [], to: [])
        rename(diff, in: name, entries: [])
        assert(
            tallies[name] == nil || tallies[name] == IconTally(), "what was counted for \(name) is counted out again")
        tallies[name] = nil
        return diff
    }

    private mutating func rename(_ diff: IconDiff, in list: ListName, entries: [AppEntry]) {
        for url in diff.removed { updateIcon(url) { $0.lists.removeAll { $0 == list } } }
        tallies[list, default: IconTally()].setRepeats(in: entries) { [icons] url in
            icons[url].flatMap { $0.lists.contains(list) ? $0.standing : nil }
        }
        for url in diff.added { updateIcon(url) { $0.lists.append(list) } }
        for (url, digest) in diff.expected { updateIcon(url) { $0.expected[list] = digest } }
    }

    /// Changes an icon's record, which is made if there is none.
    package mutating func updateIcon(_ url: IconURL, _ change: (inout IconRecord) -> Void) {
        var icon = icons.removeValue(forKey: url) ?? IconRecord(isInline: DataURL(url.text) != nil)
        let before = icon
        change(&icon)
        recount(url, before, icon)
        icons[url] = icon
    }

    /// Counts an icon as it is now, and no longer as it was.
    private mutating func recount(_ url: IconURL, _ old: IconRecord, _ new: IconRecord) {
        let shown = (
            before: old.isReferenced ? old.image?.sha256 : nil, after: new.isReferenced ? new.image?.sha256 : nil
        )
        if shown.before != shown.after {
            if let image = shown.after { users[image, default: 0] += 1 }
            if let image = shown.before, let count = users[image] { users[image] = count > 1 ? count - 1 : nil }
        }
        if old.isRetired || new.isRetired { retired[url] = new.isRetired ? new.boxedImage : nil }
        let marks = (before: IconMark(old), after: IconMark(new))
        guard marks.before != marks.after else { return }
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

    /// Forgets an icon that no list names.
    package mutating func forgetIcon(_ url: IconURL) {
        guard let icon = icons.removeValue(forKey: url) else { return }
        precondition(!icon.isReferenced, "a referenced icon is not forgotten")
        recount(url, icon, IconRecord())
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
        let apps = list.entries.map { entry in
            AppListDocument.App(
                name: entry.name, icon: entry.icon, download: entry.download, expected: entry.expected,
                state: state(of: entry.icon, without: held))
        }
        return AppListDocument(list: name, source: source, apps: apps)
    }

    private func state(of url: IconURL, without held: Set<IconURL>) -> AppListDocument.State {
        guard let icon = icons[url] else { return .pending }
        if !held.isEmpty, held.contains(url), let image = icon.image { return .ready(image) }
        return icon.state
    }
}
