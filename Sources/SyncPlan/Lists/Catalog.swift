// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// All app lists and all icons, and who names what.
package struct Catalog: Sendable {
    package private(set) var lists: [String: ListRecord] = [:]
    package private(set) var icons: [String: IconRecord] = [:]
    /// How many referenced icons show an image.
    private var users: [Digest: Int] = [:]

    package init() {}

    /// How many images referenced icons show.
    package var shownImages: Int { users.count }

    /// Whether a referenced icon shows the image.
    package func needs(_ image: Digest) -> Bool { users[image] != nil }

    /// Whether the URL's `by-url/` name is in use.
    package func needs(url: String) -> Bool {
        guard let icon = icons[url] else { return false }
        return icon.isReferenced && icon.image != nil
    }

    /// Passes over entries whose URL is another spelling of one that is known.
    ///
    /// To Swift, `é` as one character or as two are the same text; to servers and to `by-url/` they are not.
    package func spelledApart(_ list: AppList) -> AppList {
        guard !list.entries.allSatisfy({ $0.icon.utf8.allSatisfy { $0 < 0x80 } }) else { return list }
        var result = AppList(entries: [], problems: list.problems)
        var spellings: [String: String] = [:]
        for entry in list.entries {
            let known = icons.index(forKey: entry.icon).map { icons[$0].key } ?? spellings[entry.icon]
            if let known, !known.utf8.elementsEqual(entry.icon.utf8) {
                result.problems.append(
                    EntryProblem(
                        keyPath: "\(LogURL(entry.icon))",
                        reason: "the same text as another URL in other bytes: write it percent-encoded"))
            } else {
                spellings[entry.icon] = entry.icon
                result.entries.append(entry)
            }
        }
        return result
    }

    /// Changes what is known of a list, its entries excepted.
    package mutating func updateList(_ name: String, _ change: (inout ListRecord) -> Void) {
        guard var list = lists[name] else { return }
        let entries = list.entries
        change(&list)
        assert(list.entries == entries, "entries change through setList")
        lists[name] = list
    }

    /// Puts a list in force, in place of its older version.
    package mutating func setList(_ name: String, _ list: ListRecord) -> IconDiff {
        let diff = IconDiff(from: lists[name]?.entries ?? [], to: list.entries)
        lists[name] = list
        rename(diff, in: name)
        return diff
    }

    /// Takes a list out.
    package mutating func removeList(_ name: String) -> IconDiff {
        let diff = IconDiff(from: lists.removeValue(forKey: name)?.entries ?? [], to: [])
        rename(diff, in: name)
        return diff
    }

    private mutating func rename(_ diff: IconDiff, in list: String) {
        for url in diff.added { updateIcon(url) { $0.lists.append(list) } }
        for url in diff.removed { updateIcon(url) { $0.lists.removeAll { $0 == list } } }
        for (url, digest) in diff.expected { updateIcon(url) { $0.expected[list] = digest } }
    }

    /// Changes an icon's record, which is made if there is none.
    package mutating func updateIcon(_ url: String, _ change: (inout IconRecord) -> Void) {
        var icon = icons.removeValue(forKey: url) ?? IconRecord(isInline: DataURL(url) != nil)
        let before = icon.isReferenced ? icon.image?.sha256 : nil
        change(&icon)
        let after = icon.isReferenced ? icon.image?.sha256 : nil
        icons[url] = icon
        guard before != after else { return }
        if let after { users[after, default: 0] += 1 }
        if let before, let count = users[before] { users[before] = count > 1 ? count - 1 : nil }
    }

    /// Forgets an icon that no list names.
    package mutating func forgetIcon(_ url: String) {
        precondition(icons[url]?.isReferenced != true, "a referenced icon is not forgotten")
        icons[url] = nil
    }

    /// The shortest of the lists that name a URL: what is done for it counts for this one; empty if none names it.
    ///
    /// - Complexity: O(*n*) in the number of these lists.
    package func shortestList(naming url: String) -> String {
        let names = icons[url]?.lists ?? []
        guard names.count > 1 else { return names.first ?? "" }
        return names.min { (length(of: $0), $0) < (length(of: $1), $1) } ?? ""
    }

    private func length(of list: String) -> Int { lists[list]?.entries.count ?? 0 }

    /// The document of a list as it stands.
    ///
    /// - Parameters:
    ///   - name: The list.
    ///   - held: The URLs whose staged images are not to be published yet.
    /// - Returns: `nil` if the list has no good version.
    package func document(of name: String, without held: Set<String> = []) -> AppListDocument? {
        guard let list = lists[name], let source = list.source else { return nil }
        let apps = list.entries.map { entry in
            AppListDocument.App(
                name: entry.name, icon: entry.icon, download: entry.download, expected: entry.expected,
                state: state(of: entry.icon, without: held))
        }
        return AppListDocument(list: name, source: source, apps: apps)
    }

    private func state(of url: String, without held: Set<String>) -> AppListDocument.State {
        guard let icon = icons[url] else { return .pending }
        if !held.isEmpty, held.contains(url), let image = icon.image { return .ready(image) }
        return icon.state
    }
}
