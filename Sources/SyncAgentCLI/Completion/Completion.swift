// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import ArgumentParser
import CacheFormat
import FoundationEssentials
import IconCache
import Reports
import SyncAgent
import SyncPlan
import SystemPackage

extension CompletionKind {
    /// The names that a shell offers for an argument: `completion: .offered(\.icons)`.
    static func offered(_ names: @escaping @Sendable (Completion) -> [String]) -> CompletionKind {
        .custom { words, index, prefix in
            let environment = Configuration.environment
            let completion = Completion(words: words, index: index, prefix: prefix, environment: environment)
            return completion.words(for: names(completion))
        }
    }
}

/// A completion request from a shell.
///
/// It reads the cache on disk and asks no agent: the shell waits for it.
struct Completion {
    /// The words of the command line, unquoted.
    private let line: [String]
    /// The word up to the cursor.
    private let word: ShellInput
    private let shell: CompletionShell?
    private let environment: PlaceChoice.Environment

    /// `index` is the position of the word to complete; `prefix` is that word up to the cursor, for a shell that tells
    /// it.
    init(
        words: [String], index: Int, prefix: String, environment: PlaceChoice.Environment,
        shell: CompletionShell? = .requesting, version: String? = CompletionShell.requestingVersion
    ) {
        let typed = index == words.count - 1 ? prefix : words.indices.contains(index) ? words[index] : ""
        // fish before version 4 removes quotes, and passes '' for an empty word.
        let isPlain = shell == .fish && version?.starts(withBytes: "3") ?? false
        word = isPlain ? ShellInput(plain: typed == "''" ? "" : typed) : ShellInput(typed)
        line = isPlain ? words : words.map { ShellInput($0).text }
        self.shell = shell
        self.environment = environment
    }

    var settings: [String] { SettingKey.all.flatMap { $0.assignments(after: word.text) } }
    /// The codes that `syncagent explain` knows.
    var codes: [String] { CodeExplanation.all.map(\.code) }
    /// Published lists, and those in the lists folder.
    var lists: [String] { listsAndPins.filter { $0 != Reconciler.pinList.text } }
    var listsAndPins: [String] { folders.map { $0.knownLists.map(\.text) } ?? [] }
    var icons: [String] { urls() }
    var readyIcons: [String] { urls { $0 == .ready } }
    var pinnedIcons: [String] { urls(of: [Reconciler.pinList]) }
    var iconsAndLists: [String] { listsAndPins + icons }
    var failedIconsAndLists: [String] { listsAndPins + urls { $0 == .failed } }
    /// URLs that older generations name, but the newest does not.
    var retiredIcons: [String] { ((try? search?.retired()) ?? []).map(spelling) }

    private func urls(
        of lists: [ListName]? = nil, where isOffered: (DocumentSearch.Status) -> Bool = { _ in true }
    ) -> [String] {
        ((try? search?.entries(of: lists)) ?? []).filter { isOffered($0.status) }.map { spelling(of: $0.icon) }
    }

    /// The names that continue the word, in the form that the shell expects.
    func words(for names: [String]) -> [String] {
        let fitting = names.filter {
            $0.starts(withBytes: word.text) && !$0.starts(withBytes: "-") && ShellWord.isShown($0)
        }
        return CompletionFold.fold(Set(fitting))
            .filter { shell != .bash || Self.readsUTF8() || $0.utf8.allSatisfy { $0 < 0x80 } }
            .compactMap { word.spelled($0, for: shell) }
    }

    /// Whether a locale, by default that of bash, is UTF-8 or C.
    ///
    /// In GBK and Big5, the second byte of a character can be a backslash, which then escapes nothing.
    static func readsUTF8(locale name: String? = nil) -> Bool {
        let variables = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Variable[$0] }
        let locale = (name ?? variables.first { !$0.isEmpty } ?? "C").asciiLowercased
        let parts = locale.split(atByte: ".", omittingEmpty: false)
        guard parts.count > 1 else { return parts == ["c"] || parts == ["posix"] }
        return parts[1].starts(withBytes: "utf-8") || parts[1].starts(withBytes: "utf8")
    }

    /// The short form of a URL, as in tables.
    ///
    /// Commands accept it.
    ///
    /// A query may be a secret: it is completed only once its beginning is typed.
    private func spelling(of url: IconURL) -> String {
        let short = shown(url)
        return short.starts(withBytes: word.text) ? short : url.text
    }

    private var search: DocumentSearch? {
        // The query is compared later, since it may be hidden.
        let start = word.text.utf8.prefix { $0 != UInt8(ascii: "?") }
        return folders.map { DocumentSearch(in: $0.cache, start: String(Substring(start))) }
    }

    private var folders: AgentFolders? {
        let choice = PlaceChoice(
            lists: path(after: "--lists"), cache: path(after: "--cache"), state: path(after: "--state"),
            socket: path(after: "--socket"),
            owner: line.contains("--system") ? .system : line.contains("--user") ? .user : nil)
        return try? choice.place(in: environment).folders
    }

    /// The value of an option; a leading `~/` is expanded.
    private func path(after option: String) -> String? {
        var path: String?
        for (index, word) in line.enumerated() {
            if word == option, index + 1 < line.count { path = line[index + 1] }
            if word.starts(withBytes: option + "=") { path = word.dropping(bytes: option.utf8.count + 1) }
        }
        guard let path, path.starts(withBytes: "~/"), let home = environment.variable("HOME") else { return path }
        return home + path.dropping(bytes: 1)
    }
}

extension AgentFolders {
    /// The lists in the lists folder, accepted or not; those whose names are not UTF-8 come with U+FFFD, and are left out.
    private var droppedLists: [ListName] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: lists.string)) ?? []
        return files.filter { !$0.unicodeScalars.contains("\u{FFFD}") }.map { ListName($0) }.filter(\.isAppList)
    }

    private var publishedLists: [ListName] { (try? IconCache(at: cache).manifest()).map { Array($0.lists.keys) } ?? [] }

    /// The lists in the lists folder, and those that are published.
    var knownLists: [ListName] { droppedLists + publishedLists }
}

extension SettingKey {
    /// Completions after `--set`: the key with “=”, or whole assignments if the setting has few values.
    fileprivate func assignments(after text: String) -> [String] {
        guard text.starts(withBytes: name + "=") else { return [name + "="] }
        guard kind != .flag else { return ["\(name)=true", "\(name)=false"] }
        // The values can be listed only if the label quotes them.
        guard label.starts(withBytes: "`") else { return [] }
        let values = label.matches(of: /`([^`]+)`/).map { String($0.1) }
        return values.map { "\(name)=\($0)" }
    }
}
