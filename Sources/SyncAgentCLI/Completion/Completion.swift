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

/// Which names a shell offers for an argument: `completion: .offered(.icons)`.
enum Offer: Sendable {
    /// The URLs that published lists name.
    case icons
    /// Those of them that have an image.
    case readyIcons
    case pinnedIcons
    /// Those whose download failed, and the lists.
    case failedIconsAndLists
    case iconsAndLists
    /// Those that older generations name, and the newest one does not.
    case retiredIcons
    /// Lists that are published, or in the lists folder.
    case lists
    /// The same, and the list of pinned icons.
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

/// The command line in a shell at the moment of a completion.
///
/// It reads the cache on disk and asks no agent: a shell waits for it.
struct Completion {
    /// What decides where the cache is.
    struct Environment {
        var variable: (String) -> String?
        var directory: () -> FilePath?
        var exists: (FilePath) -> Bool
    }

    /// The words of the command line, without quotes.
    private let line: [String]
    /// The word as far as the cursor.
    private let word: ShellInput
    /// Whether the word has the mark of a query or of a fragment.
    private let isBeyondPath: Bool
    private let shell: CompletionShell?
    private let environment: Environment

    /// - Parameters:
    ///   - words: The words of the command line, from the program's name, as the shell gives them.
    ///   - index: Which of them is completed.
    ///   - prefix: That word as far as the cursor, if it is the last one.
    ///   - environment: What decides where the cache is.
    ///   - shell: The shell that asks.
    ///   - version: Its version.
    init(
        words: [String], index: Int, prefix: String, environment: Environment,
        shell: CompletionShell? = .requesting, version: String? = CompletionShell.requestingVersion
    ) {
        let typed = index == words.count - 1 ? prefix : words.indices.contains(index) ? words[index] : ""
        // Before version 4, fish takes the quotes away, and gives two of them for an empty word.
        let isPlain = shell == .fish && version?.starts(withBytes: "3") ?? false
        word = isPlain ? ShellInput(plain: typed == "''" ? "" : typed) : ShellInput(typed)
        isBeyondPath = word.text.utf8.contains(where: Self.endsPath)
        line = isPlain ? words : words.map { ShellInput($0).text }
        self.shell = shell
        self.environment = environment
    }

    /// The words to offer, as the shell is to be given them.
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

    /// Whether bash takes each byte of ASCII in UTF-8 for what it is: in GBK and Big5, the backslash before one can be the
    /// second half of a sign, and escapes nothing.
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

    /// Adds a URL as tables show it, which commands accept.
    ///
    /// What is hidden may be a secret: only somebody who types the beginning of it gets it whole.
    private func add(_ url: UnsafeRawBufferPointer, to fold: inout CompletionFold) {
        // Of most, nothing is hidden but a query: the rest was found because it begins with the word.
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

    /// Whether a byte is no part of a user name, and does not act on a terminal.
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
        // What follows the mark of a query is compared later: it may be hidden.
        let start = word.text.utf8.prefix { $0 != UInt8(ascii: "?") }
        return folders.map { DocumentSearch(in: $0.cache, start: String(Substring(start))) }
    }

    /// The folders that the command would use.
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

    /// The value of an option.
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
    /// What may follow `--set`: its name with the mark, or also a value if there are but a few.
    fileprivate func assignments(after text: String) -> [String] {
        guard text.starts(withBytes: name + "=") else { return [name + "="] }
        guard kind != .flag else { return ["\(name)=true", "\(name)=false"] }
        // The others have values that nobody can list.
        guard label.starts(withBytes: "`") else { return [] }
        let values = label.matches(of: /`([^`]+)`/).map { String($0.1) }
        return values.map { "\(name)=\($0)" }
    }
}
