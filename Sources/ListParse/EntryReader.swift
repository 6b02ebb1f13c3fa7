// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Reads the entries of an array one by one: a bad entry is reported and ignored.
struct EntryReader {
    enum Reading {
        /// A list, or the reason why the array is none: it exceeds a limit, or needs a setting.
        case verdict(ListVerdict)
        /// An empty array, and therefore an empty list.
        case empty
        /// The array contains no URL and no dictionary of a known kind.
        case other
        /// The array contains neither, but it has dictionaries with names, or empty strings: it may be a list that has
        /// lost its URLs.
        case spoiled(ListRejection)
    }

    static let nameKey = ListKey("name")
    private static let downloadKey = ListKey("download")

    private let iconKeys: [ListKey]
    private let identityKeys: [ListKey]
    var draft: ListDraft
    /// The number of elements of all arrays read so far.
    var elements = 0
    /// Whether there are relative icon names without a base URL.
    var lacksIconBase = false
    /// Whether there are entries with a flaw that a base URL would not remove.
    private var hasOtherFlaw = false
    /// The number of dictionaries in the array that was read.
    private(set) var dictionaries = 0
    /// The number of URLs in quotes or brackets: they are not usable, but show that the array is a list.
    private(set) var wrappedURLs = 0

    var limits: ListLimits { draft.limits }

    init(limits: ListLimits) {
        draft = ListDraft(limits)
        iconKeys = Self.iconKeys(limits).map(ListKey.init)
        identityKeys = limits.identityKeys.map(ListKey.init)
    }

    /// The keys of icons, by precedence.
    static func iconKeys(_ limits: ListLimits) -> [String] { ["icon"] + limits.iconKeys.filter { $0 != "icon" } }

    /// Reads an array of dictionaries, URLs, or both; `path` is its key path, for problems.
    mutating func read(_ array: any UnkeyedDecodingContainer, at path: String) -> Reading {
        var array = array
        guard !array.isAtEnd else { return .empty }
        count(array)
        var isKnownShape = false
        while !array.isAtEnd {
            let place = EntryPlace(array: path, index: array.currentIndex)
            if let dictionary = try? array.nestedContainer(keyedBy: ListKey.self) {
                dictionaries += 1
                isKnownShape = add(dictionary, at: place) || isKnownShape
            } else if let text = try? array.decode(String.self) {
                isKnownShape = add(text, at: place) || isKnownShape
            } else {
                hasOtherFlaw = true
                draft.addUnusable(name: nil, id: nil, at: "\(place)", "not a dictionary or a string")
                guard (try? array.decode(Anything.self)) != nil else { return .other }
            }
            if let rejection { return .verdict(.failure(rejection)) }
        }
        if isKnownShape { return .verdict(verdict) }
        guard draft.hasSpoiledEntries, let rejection = draft.noUsableEntry else { return .other }
        return .spoiled(rejection)
    }

    /// Records the flaw of an icon's text; a word without a dot or a slash is not even a file name.
    private mutating func recordFlaw(_ flaw: IconFlaw, in text: String?) {
        if case .wrapped = flaw { wrappedURLs += 1 }
        if flaw == .relative, text?.utf8.contains(where: "./".utf8.contains) == true {
            lacksIconBase = true
        } else {
            hasOtherFlaw = true
        }
    }

    /// Reads a dictionary that is the only entry of a list.
    mutating func read(_ entry: KeyedDecodingContainer<ListKey>) -> ListVerdict {
        _ = add(entry, at: .top)
        return verdict
    }

    private var verdict: ListVerdict {
        draft.entries.isEmpty && lacksIconBase && !hasOtherFlaw ? .failure(.noIconBase) : draft.verdict
    }

    mutating func count(_ array: any UnkeyedDecodingContainer) { elements += array.count ?? 0 }

    /// The rejection, if a limit is exceeded so far.
    var rejection: ListRejection? {
        elements > limits.maxEntries ? .tooManyEntries(limit: limits.maxEntries) : draft.rejection
    }

    /// Adds a string entry, and returns whether it tells that it is a URL, or is one in quotes or brackets.
    ///
    /// Any word can be a relative URL, so other strings are entries, but do not make the array an app list.
    private mutating func add(_ text: String, at place: EntryPlace) -> Bool {
        switch icon(text) {
        case .success(let url):
            append(AppEntry(icon: url), at: "\(place)")
            return limits.isPlainURL(text)
        case .failure(let flaw):
            recordFlaw(flaw, in: text)
            draft.addUnusable(name: nil, id: nil, at: "\(place)", flaw.description)
            if case .wrapped = flaw { return true }
            return false
        }
    }

    private mutating func append(
        _ icon: IconURL, under key: ListKey, of entry: KeyedDecodingContainer<ListKey>, at place: EntryPlace
    ) {
        append(
            AppEntry(
                name: text(Self.nameKey, of: entry, at: place), id: identity(of: entry), icon: icon,
                download: entry.contains(Self.downloadKey) ? text(Self.downloadKey, of: entry, at: place) : nil),
            at: place.key(key))
    }

    /// Adds a dictionary entry, and returns whether it is of a known kind.
    private mutating func add(_ entry: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Bool {
        var firstProblem: (key: ListKey, flaw: IconFlaw)?
        // A URL that can never be requested, such as the name of a program's own icon, hides none under another key.
        var refused: (key: ListKey, url: IconURL)?
        for key in iconKeys where entry.contains(key) {
            switch icon(key, of: entry) {
            case .success(let url) where ListDraft.refusal(of: url) == nil:
                if let refused { draft.count(refused.url.text) }
                append(url, under: key, of: entry, at: place)
                return true
            case .success(let url):
                if refused == nil { refused = (key, url) } else { draft.count(url.text) }
            case .failure(let flaw):
                firstProblem = firstProblem ?? (key, flaw)
            }
        }
        if let refused {
            append(refused.url, under: refused.key, of: entry, at: place)
            return true
        }
        if let firstProblem {
            recordFlaw(firstProblem.flaw, in: try? entry.decode(String.self, forKey: firstProblem.key))
            draft.addUnusable(
                name: text(Self.nameKey, of: entry, at: place), id: identity(of: entry),
                at: place.key(firstProblem.key), firstProblem.flaw.description)
            return true
        }
        if addMunkiItem(entry, at: place) || addInstallItem(entry, at: place) { return true }
        hasOtherFlaw = true
        let (name, id) = (text(Self.nameKey, of: entry, at: place), identity(of: entry))
        if name == nil, id == nil, addItemWithoutAssets(entry, at: place) { return false }
        draft.addUnusable(
            name: name, id: id, at: "\(place)",
            "no icon key (\(ListPath.shown(iconKeys.map(\.stringValue).joined(separator: ", "))))")
        return false
    }

    mutating func append(_ entry: AppEntry, at keyPath: @autoclosure () -> String) {
        draft.count(entry.icon.text)
        draft.add(entry, at: keyPath())
    }

    mutating func icon(_ key: ListKey, of entry: KeyedDecodingContainer<ListKey>) -> Result<IconURL, IconFlaw> {
        guard let text = try? entry.decode(String.self, forKey: key) else { return .failure(.notAString) }
        return icon(text)
    }

    private mutating func icon(_ text: String) -> Result<IconURL, IconFlaw> {
        let icon = limits.icon(text)
        // The texts of bad entries count, too: reading them took time.
        switch icon {
        case .failure: draft.count(text)
        // The white space around a URL counts, too.
        case .success(let url): draft.count(bytes: max(text.utf8.count - url.text.utf8.count, 0))
        }
        return icon
    }

    /// An optional text of an entry, which may be null; an integer is accepted as its digits.
    mutating func text(_ key: ListKey, of entry: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> String? {
        guard let text = text(key, of: entry) else {
            if (try? entry.decodeNil(forKey: key)) == false { draft.addProblem(place.key(key), "not a string") }
            return nil
        }
        guard text.utf8.count <= AppEntry.maxTextBytes else {
            draft.addProblem(place.key(key), "longer than \(AppEntry.maxTextBytes) bytes")
            return nil
        }
        return text
    }

    /// A text without the white space that writers put around long ones; `nil` for a value of another type.
    static func trimmed(_ key: ListKey, of entry: KeyedDecodingContainer<ListKey>) -> String? {
        (try? entry.decode(String.self, forKey: key)).map(AppEntry.trimmed)
    }

    private mutating func text(_ key: ListKey, of entry: KeyedDecodingContainer<ListKey>) -> String? {
        if let text = try? entry.decode(String.self, forKey: key) {
            draft.count(text)
            return AppEntry.trimmed(text)
        }
        guard entry.contains(key) else { return nil }
        return (try? entry.decode(Int64.self, forKey: key)).map { String($0) }
            ?? (try? entry.decode(UInt64.self, forKey: key)).map { String($0) }
    }

    /// The identity of an app: the first identity key whose value is a text or an integer.
    ///
    /// Other values are ignored without a problem: a list may use such a key for something else.
    mutating func identity(of entry: KeyedDecodingContainer<ListKey>) -> String? {
        for key in identityKeys where entry.contains(key) {
            if let text = text(key, of: entry), (1...AppEntry.maxTextBytes).contains(text.utf8.count) { return text }
        }
        return nil
    }

    /// Skips a value of any type.
    struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}
