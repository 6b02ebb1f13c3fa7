// SPDX-License-Identifier: Apache-2.0
import AgentSettings
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
}

extension CompletionKind {
    static func offered(_ offer: Offer) -> CompletionKind {
        .custom { words, index, prefix in
            let environment = Completion.Environment(
                variable: { Variable[$0] }, directory: Configuration.currentDirectory, exists: Configuration.exists)
            return Completion(words: words, index: index, prefix: prefix, environment: environment).words(for: offer)
        }
    }
}

/// A completion request from a shell.
///
/// It reads the cache on disk and asks no agent: the shell waits for it.
struct Completion {
    /// What determines the location of the cache.
    struct Environment {
        var variable: (String) -> String?
        var directory: () -> FilePath?
        var exists: (FilePath) -> Bool
    }

    /// The words of the command line, unquoted.
    private let line: [String]
    /// The word up to the cursor.
    private let word: ShellInput
    /// Whether the word contains “?” or “#”.
    private let isBeyondPath: Bool
    private let shell: CompletionShell?
    private let environment: Environment

    /// `index` is that of the word to complete, `prefix` that word up to the cursor, if it is the last one.
    init(
        words: [String], index: Int, prefix: String, environment: Environment,
        shell: CompletionShell? = .requesting, version: String? = CompletionShell.requestingVersion
    ) {
        let typed = index == words.count - 1 ? prefix : words.indices.contains(index) ? words[index] : ""
        // fish before version 4 removes quotes, and passes '' for an empty word.
        let isPlain = shell == .fish && version?.starts(withBytes: "3") ?? false
        word = isPlain ? ShellInput(plain: typed == "''" ? "" : typed) : ShellInput(typed)
        isBeyondPath = word.text.utf8.contains(where: Self.endsPath)
        line = isPlain ? words : words.map { ShellInput($0).text }
        self.shell = shell
        self.environment = environment
    }

    /// The words to offer, in the form that the shell expects.
    func words(for offer: Offer) -> [String] {
        var fold = CompletionFold()
        switch offer {
        case .settings: add(SettingKey.all.flatMap { $0.assignments(after: word.text) }, to: &fold)
        case .lists: add(lists(withPins: false), to: &fold)
        case .listsAndPins, .iconsAndLists, .failedIconsAndLists: add(lists(withPins: true), to: &fold)
        case .icons, .readyIcons, .pinnedIcons, .retiredIcons: break
        }
        switch offer {
        case .icons, .iconsAndLists: addIcons(to: &fold) { _ in true }
        case .readyIcons: addIcons(to: &fold) { $0 == .ready }
        case .failedIconsAndLists: addIcons(to: &fold) { $0 == .failed }
        case .pinnedIcons: addIcons(of: [Reconciler.pinList], to: &fold) { _ in true }
        case .retiredIcons: try? search?.retired { add($0, to: &fold) }
        case .settings, .lists, .listsAndPins: break
        }
        let names = fold.names.filter { shell != .bash || Self.bashReadsUTF8 || $0.utf8.allSatisfy { $0 < 0x80 } }
        return names.compactMap { word.spelled($0, for: shell) }
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

    private func add(_ names: [String], to fold: inout CompletionFold) {
        for name in names
        where name.starts(withBytes: word.text) && !name.starts(withBytes: "-") && ShellWord.isShown(name) {
            fold.add(name)
        }
    }

    private func addIcons(
        of lists: [ListName]? = nil, to fold: inout CompletionFold, where isOffered: (DocumentSearch.Status) -> Bool
    ) {
        try? search?.entries(of: lists) { url, status in
            if isOffered(status) { add(url, to: &fold) }
        }
    }

    /// Adds a URL in the short form of tables, which commands accept.
    ///
    /// The hidden part may be a secret: a URL is offered whole only if the beginning of that part is typed.
    private func add(_ url: UnsafeRawBufferPointer, to fold: inout CompletionFold) {
        // Fast path: in most URLs only the query is hidden, and the search matched the rest.
        if url.first == UInt8(ascii: "h"), !isBeyondPath, url.allSatisfy(Self.isPlain) {
            guard let end = url.firstIndex(where: Self.endsPath) else { return fold.add(url) }
            let short = Array(url[..<end]) + (url[end] == UInt8(ascii: "?") ? Array("?…".utf8) : [])
            return short.withUnsafeBytes { fold.add($0) }
        }
        let whole = String(decoding: url, as: UTF8.self)
        let short = shown(IconURL(whole))
        add([short.starts(withBytes: word.text) ? short : whole], to: &fold)
    }

    private static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// Whether a byte cannot hide a user name or control a terminal.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21..<0x7F).contains(byte) && byte != UInt8(ascii: "@")
    }

    private func lists(withPins: Bool) -> [String] {
        guard let folders else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folders.lists.string)) ?? []
        let published = (try? IconCache(at: folders.cache).manifest().lists.keys.map { $0 }) ?? []
        return files.filter { ListName($0).isAppList }
            + published.filter { withPins || $0 != Reconciler.pinList }.map(\.text)
    }

    private var search: DocumentSearch? {
        // The query is compared later, since it may be hidden.
        let start = word.text.utf8.prefix { $0 != UInt8(ascii: "?") }
        return folders.map { DocumentSearch(in: $0.cache, start: String(Substring(start))) }
    }

    private var folders: AgentFolders? {
        var choice = PlaceChoice()
        choice.cache = path(after: "--cache")
        choice.lists = path(after: "--lists")
        choice.state = path(after: "--state")
        choice.socket = path(after: "--socket")
        choice.owner = line.contains("--system") ? .system : line.contains("--user") ? .user : nil
        return try? choice.place(
            variable: environment.variable, directory: environment.directory, exists: environment.exists
        ).folders
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
