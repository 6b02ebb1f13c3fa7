// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import FoundationEssentials
import IconCache
import Reports
import SyncAgent
import SyncPlan
import SystemPackage

/// The name that a misspelt one may be meant for.
enum Suggestion {
    /// How many URLs are compared at most.
    private static let longest = 20_000

    /// ` Did you mean apps.plist?`; nothing if no name is near.
    static func text(for text: String, among names: [String], quoted: (String) -> String = ShellWord.quoted) -> String {
        name(for: text, among: names).map { " Did you mean \(quoted($0))?" } ?? ""
    }

    /// The nearest of some names, if at most a third of it differs; upper and lower case differ least.
    static func name(for text: String, among names: [String]) -> String? {
        let others = names.filter { $0 != text }
        if let same = others.first(where: { $0.lowercased() == text.lowercased() }) { return same }
        return EditDistance.nearest(to: text, in: others) { $0 }
    }

    /// The same among the lists in the lists folder and those that are published; a name without its suffix is near.
    static func list(for list: ListName, in folders: AgentFolders) -> String {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folders.lists.string)) ?? []
        let published = (try? IconCache(at: folders.cache).manifest().lists.keys.map(\.text)) ?? []
        let names = Set(files.filter { ListName($0).isAppList } + published).sorted()
        if names.contains(list.text + ".plist") { return " Did you mean \(ShellWord.quoted(list.text + ".plist"))?" }
        return text(for: list.text, among: names)
    }

    /// A URL as an argument of `why`; as tables show it, if something in it may be secret.
    static func word(for url: IconURL) -> String { ShellWord.icon(url) ?? ShellWord.quoted(shown(url)) }

    /// The same among the URLs that published lists name; one that differs in its query alone is the nearest.
    static func icon(for url: IconURL, in cache: FilePath) -> String {
        let cache = IconCache(at: cache)
        guard url.text.utf8.count <= 500, let lists = try? cache.manifest().lists.keys.sorted() else { return "" }
        var left = longest
        var best: (url: IconURL, distance: Int)?
        for list in lists where left > 0 {
            for app in (try? cache.document(of: list))?.apps ?? [] where left > 0 {
                left -= 1
                guard app.icon != url, app.icon != best?.url, let distance = distance(url, app.icon) else { continue }
                if distance < best?.distance ?? .max { best = (app.icon, distance) }
            }
        }
        return best.map { hint(for: url, $0.url) } ?? ""
    }

    /// ` Did you mean …?`, with a word that can be pasted; nothing if that is what was given.
    static func hint(for url: IconURL, _ other: IconURL) -> String {
        let (given, offered) = (IconURL(shown(url)), IconURL(shown(other)))
        guard offered != url else { return "" }
        // Both have a query, which is not shown.
        guard offered != given else { return " A list names it with another query: \(ShellWord.quoted(offered.text))" }
        return " Did you mean \(ShellWord.quoted(offered.text))?"
    }

    /// How far two URLs are from each other; 0 if only their queries differ, and `nil` if they are too far.
    static func distance(_ url: IconURL, _ other: IconURL) -> Int? {
        let (one, two) = (url.withoutQuery.utf8, other.withoutQuery.utf8)
        if one.elementsEqual(two) { return 0 }
        guard abs(one.count - two.count) <= 3 else { return nil }
        let distance = EditDistance.between(String(Substring(one)), String(Substring(two)))
        return distance <= 3 ? distance : nil
    }

    /// What tables show in place of a query.
    private static let query = "?…"

    /// Whether a URL is spelled as tables show one that has a query.
    static func isShown(_ url: IconURL) -> Bool { url.text.ends(withBytes: query) }

    /// Whether a URL is another one without its query, or as tables show it.
    static func isShort(_ url: IconURL, of whole: IconURL) -> Bool {
        let short = shown(whole)
        return haveSameBytes(short, url.text) || haveSameBytes(short, url.text + query)
    }

    /// The URL that somebody means who gives it without its query, or as tables show it.
    ///
    /// - Returns: `nil` if no published list has one.
    /// - Throws: Exit code 1 if there are several.
    static func whole(_ url: IconURL, in cache: FilePath) throws -> IconURL? {
        let cache = IconCache(at: cache)
        guard let lists = try? cache.manifest().lists.keys.sorted() else { return nil }
        var found: [IconURL: ListName] = [:]
        for list in lists {
            for app in (try? cache.document(of: list))?.apps ?? [] where app.icon != url && found[app.icon] == nil {
                if isShort(url, of: app.icon) { found[app.icon] = list }
            }
        }
        guard found.count > 1, let list = found.values.min() else { return found.keys.first }
        throw Exit.because(
            "\(counted(found.count, "icon")) have the URL \(shown(url)) with different queries. To see them whole: "
                + "syncagent list --json \(ShellWord.list(list))", code: .attention)
    }

    /// The same among the files beside one that is not there.
    static func file(for path: FilePath) -> String {
        guard let name = path.lastComponent?.string else { return "" }
        let folder = path.removingLastComponent()
        let here = folder.string.isEmpty ? "." : folder.string
        let names = (try? FileManager.default.contentsOfDirectory(atPath: here)) ?? []
        return text(for: name, among: names.sorted()) { ShellWord.file(folder.appending($0).string) }
    }
}
