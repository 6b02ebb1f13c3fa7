// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import FoundationEssentials
import IconCache
import Reports
import SystemPackage

enum Suggestion {
    /// The most URLs that are compared with a misspelt one.
    private static let longest = 20_000

    /// ` Did you mean apps.plist?`; empty if no name is near.
    static func text(for text: String, among names: [String], quoted: (String) -> String = ShellWord.quoted) -> String {
        name(for: text, among: names).map { " Did you mean \(quoted($0))?" } ?? ""
    }

    /// The nearest name, if at most a third of it differs; one that differs only in case comes first.
    ///
    /// No argument can have U+0000.
    static func name(for text: String, among names: [String]) -> String? {
        let others = names.filter { $0 != text && !$0.utf8.contains(0) }
        if let same = others.first(where: { $0.lowercased() == text.lowercased() }) { return same }
        return EditDistance.nearest(to: text, in: others) { $0 }
    }

    /// A suggestion among lists; a name without its suffix is near.
    static func list(for list: ListName, among lists: [ListName]) -> String {
        let names = Set(lists).map(\.text).sorted()
        if let suffix = ListName.suffixes.first(where: { names.contains(list.text + $0) }) {
            return " Did you mean \(ShellWord.quoted(list.text + suffix))?"
        }
        return text(for: list.text, among: names)
    }

    /// A URL as an argument, in the short form if part of it may be secret; a list that names it if several icons have
    /// that form.
    static func word(for url: IconURL, in list: ListName?, of cache: FilePath) -> String {
        if let word = ShellWord.icon(url) { return word }
        let short = IconURL(shown(url))
        if let list, (try? whole(short, in: cache)) == nil { return ShellWord.list(list) }
        return ShellWord.quoted(short.text)
    }

    /// A suggestion among published URLs; the nearest are those that differ only in the query or fragment.
    static func icon(for url: IconURL, in cache: FilePath) -> String {
        guard url.text.utf8.count <= 500 else { return "" }
        var best: (url: IconURL, distance: Int)?
        for (_, other) in publishedIcons(in: cache).prefix(longest) where other != url && other != best?.url {
            guard let distance = distance(url, other), distance < best?.distance ?? .max else { continue }
            best = (other, distance)
        }
        return best.map { hint(for: url, $0.url) } ?? ""
    }

    private static func publishedIcons(in cache: FilePath) -> some Sequence<(list: ListName, icon: IconURL)> {
        let snapshot = try? IconCache(at: cache).snapshot()
        let lists = snapshot?.manifest.lists.keys.sorted() ?? []
        return lists.lazy.flatMap { list in
            ((try? snapshot?.document(of: list))?.apps ?? []).map { (list: list, icon: $0.icon) }
        }
    }

    /// ` Did you mean …?` with the other URL, quoted for a shell; empty if it looks like the given one.
    static func hint(for url: IconURL, _ other: IconURL) -> String {
        let (given, offered) = (IconURL(shown(url)), IconURL(shown(other)))
        guard offered != url else { return "" }
        // The URLs differ only in the query or fragment, which `shown` hides.
        guard offered != given || offered == other else {
            return " A list names it with another \(hiddenPart(of: url, other)): \(ShellWord.quoted(offered.text))"
        }
        return " Did you mean \(ShellWord.quoted(offered.text))?"
    }

    /// The distance of two URLs; 0 if only their queries or fragments differ, `nil` if it is more than 3.
    static func distance(_ url: IconURL, _ other: IconURL) -> Int? {
        let (one, two) = (url.withoutQuery.utf8, other.withoutQuery.utf8)
        if one.elementsEqual(two) { return 0 }
        guard abs(one.count - two.count) <= 3 else { return nil }
        let distance = EditDistance.between(String(Substring(one)), String(Substring(two)))
        return distance <= 3 ? distance : nil
    }

    /// Stands for the query in the short form of a URL.
    private static let query = "?…"

    /// Whether a URL is in short form: its query was replaced by `?…`.
    static func isShown(_ url: IconURL) -> Bool { url.text.ends(withBytes: query) }

    /// Whether `url` is `whole` without its query, or in short form.
    static func isShort(_ url: IconURL, of whole: IconURL) -> Bool {
        let short = shown(whole)
        return haveSameBytes(short, url.text) || haveSameBytes(short, url.text + query)
    }

    /// The published URL whose short form, or whose part before the query, is `url`.
    ///
    /// - Returns: `nil` if no published URL matches.
    /// - Throws: Exit code 1 if several match.
    static func whole(_ url: IconURL, in cache: FilePath) throws -> IconURL? {
        var found: [IconURL: ListName] = [:]
        for (list, icon) in publishedIcons(in: cache) where icon != url && found[icon] == nil && isShort(url, of: icon)
        {
            found[icon] = list
        }
        guard found.count > 1, let list = found.values.min() else { return found.keys.first }
        throw Exit.because(
            "\(counted(found.count, "icon")) have the URL \(shown(url)) with different \(hiddenParts(of: found.keys)). "
                + "To see them whole: syncagent list --json \(ShellWord.list(list))")
    }

    /// The published URL that `url` is short for, if there is one, or else `url` itself.
    ///
    /// - Throws: Exit code 1 if several match, or if `url` is in short form and none matches.
    static func meant(_ url: IconURL, in cache: FilePath) throws -> IconURL {
        if let whole = try whole(url, in: cache) { return whole }
        guard isShown(url) else { return url }
        throw Exit.because("No app list names \(shown(url)).")
    }

    /// The parts in which URLs differ that are shown alike: `queries`, `fragments`, or both.
    static func hiddenParts(of urls: some Collection<IconURL>) -> String {
        switch Set(urls.map(\.withoutFragment)).count {
        case 1: "fragments"
        case urls.count: "queries"
        default: "queries or fragments"
        }
    }

    /// A suggestion among the files in the folder of a missing file.
    static func file(for path: FilePath) -> String {
        guard let name = path.lastComponent?.string else { return "" }
        let folder = path.removingLastComponent()
        let here = folder.string.isEmpty ? "." : folder.string
        let names = (try? FileManager.default.contentsOfDirectory(atPath: here)) ?? []
        return text(for: name, among: names.sorted()) { ShellWord.file(folder.appending($0).string) }
    }
}
