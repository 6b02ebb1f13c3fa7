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

/// The names that a shell offers for an argument: `completion: .offered(.icons)`.
enum Offer: Sendable {
    case icons
    case readyIcons
    case pinnedIcons
    /// URLs whose download failed, and lists.
    case failedIconsAndLists
    case iconsAndLists
    /// URLs that older generations name, but the newest does not.
    case retiredIcons
    /// Published lists, and those in the lists folder.
    case lists
    /// The same, and the list of pins.
    case listsAndPins
    case settings
    /// Codes that are explained.
    case codes
}

extension CompletionKind {
    static func offered(_ offer: Offer) -> CompletionKind {
        .custom { words, index, prefix in
            Completion(words: words, index: index, prefix: prefix, environment: Configuration.environment)
                .words(for: offer)
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

    /// `index` is that of the word to complete, `prefix` that word up to the cursor, if it is the last one.
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

    /// The words to offer, in the form that the shell expects.
    func words(for offer: Offer) -> [String] {
        let names =
            switch offer {
            case .settings: SettingKey.all.flatMap { $0.assignments(after: word.text) }
            case .codes: CodeExplanation.all.map(\.code)
            case .lists: lists(withPins: false)
            case .listsAndPins: lists(withPins: true)
            case .icons: icons()
            case .readyIcons: icons { $0 == .ready }
            case .pinnedIcons: icons(of: [Reconciler.pinList])
            case .iconsAndLists: lists(withPins: true) + icons()
            case .failedIconsAndLists: lists(withPins: true) + icons { $0 == .failed }
            case .retiredIcons: retiredIcons
            }
        let fitting = names.filter {
            $0.starts(withBytes: word.text) && !$0.starts(withBytes: "-") && ShellWord.isShown($0)
        }
        return CompletionFold.fold(Set(fitting))
            .filter { shell != .bash || Self.bashReadsUTF8 || $0.utf8.allSatisfy { $0 < 0x80 } }
            .compactMap { word.spelled($0, for: shell) }
    }

    /// Whether bash's locale is UTF-8 or C.
    ///
    /// In GBK and Big5, the second byte of a character can be a backslash, which then escapes nothing.
    private static var bashReadsUTF8: Bool {
        readsUTF8(locale: ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Variable[$0] }.first { !$0.isEmpty } ?? "C")
    }

    static func readsUTF8(locale name: String) -> Bool {
        let parts = name.asciiLowercased.split(atByte: ".", omittingEmpty: false)
        if parts.count == 1 { return ["c", "posix"].contains(name.asciiLowercased) }
        return ["utf-8", "utf8"].contains { parts[1].starts(withBytes: $0) }
    }

    private func icons(
        of lists: [ListName]? = nil, where isOffered: (DocumentSearch.Status) -> Bool = { _ in true }
    ) -> [String] {
        var icons: [String] = []
        try? search?.entries(of: lists) { url, status in
            if isOffered(status) { icons.append(spelling(of: url)) }
        }
        return icons
    }

    private var retiredIcons: [String] {
        var icons: [String] = []
        try? search?.retired { icons.append(spelling(of: $0)) }
        return icons
    }

    /// The short form of a URL, as in tables, which commands accept.
    ///
    /// The hidden part may be a secret: the URL is whole only if the beginning of that part is typed.
    private func spelling(of url: IconURL) -> String {
        let short = shown(url)
        return short.starts(withBytes: word.text) ? short : url.text
    }

    private func lists(withPins: Bool) -> [String] {
        let lists = folders.map { $0.droppedLists + $0.publishedLists } ?? []
        return lists.filter { withPins || $0 != Reconciler.pinList }.map(\.text)
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
    /// The lists in the lists folder, accepted or not.
    var droppedLists: [ListName] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: lists.string)) ?? []
        return files.map { ListName($0) }.filter(\.isAppList)
    }

    var publishedLists: [ListName] { (try? IconCache(at: cache).manifest()).map { Array($0.lists.keys) } ?? [] }
}

extension SettingKey {
    /// Completions after `--set`: the key with “=”, or whole assignments if there are few values.
    fileprivate func assignments(after text: String) -> [String] {
        guard text.starts(withBytes: name + "=") else { return [name + "="] }
        guard kind != .flag else { return ["\(name)=true", "\(name)=false"] }
        // Only labels with quoted values can be listed.
        guard label.starts(withBytes: "`") else { return [] }
        let values = label.matches(of: /`([^`]+)`/).map { String($0.1) }
        return values.map { "\(name)=\($0)" }
    }
}
