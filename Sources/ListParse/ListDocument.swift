// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials

/// A whole property list, decoded as any known shape of app list.
///
/// `init(from:configuration:)` does everything in one pass; decoding the file again for each possible type is many times
/// slower.
struct ListDocument: DecodableWithConfiguration {
    /// The keys whose array is the list even if there are other arrays, by precedence.
    private static let preferredKeys = ["apps", "items", "icons"]

    let verdict: ListVerdict

    init(from decoder: any Decoder, configuration outline: PropertyListOutline) throws {
        let limits = outline.limits
        if let array = try? decoder.unkeyedContainer() {
            var reader = EntryReader(limits: limits)
            verdict = Self.verdict(of: reader.read(array, at: ""))
        } else if let dictionary = try? decoder.container(keyedBy: ListKey.self) {
            verdict = Self.verdict(of: dictionary, outline)
        } else if let text = try? decoder.singleValueContainer().decode(String.self), text.starts(withBytes: "bplist") {
            // The parser reads a damaged binary property list as a string.
            verdict = .failure(.notAPropertyList("it is a damaged binary one"))
        } else {
            verdict = .failure(.noKnownShape)
        }
    }

    private static func verdict(of array: EntryReader.Reading) -> ListVerdict {
        switch array {
        case .verdict(let verdict): verdict
        case .empty: .success(AppList())
        case .other, .spoiled: .failure(.noKnownShape)
        }
    }

    /// A dictionary with a list under one of its keys, a Munki item, or name → URL.
    private static func verdict(
        of dictionary: KeyedDecodingContainer<ListKey>, _ outline: PropertyListOutline
    ) -> ListVerdict {
        let limits = outline.limits
        // The parser keeps one of the values of a key, and takes canonically equivalent keys for the same one.
        var hasRepeatedKey: Bool { outline.topKeys > dictionary.allKeys.count }
        // A keyed archive has all objects in one array, with texts that are not URLs of icons.
        if dictionary.contains(ListKey("$archiver")), dictionary.contains(ListKey("$objects")) {
            return .failure(.noKnownShape)
        }
        var empty: [String] = []
        // Whether a preferred key has a value that is not a list: the list may have lost its shape.
        var isLost = false
        // Whether it is an array of other values: the apps of the list may have lost their URLs.
        var hasOther = false
        for key in preferredKeys.map(ListKey.init) where dictionary.contains(key) {
            guard let array = try? dictionary.nestedUnkeyedContainer(forKey: key) else {
                // The URL of an app that is named like the key is not a lost list.
                isLost = isLost || !isURL(under: key, of: dictionary, limits)
                continue
            }
            var reader = EntryReader(limits: limits)
            switch reader.read(array, at: key.stringValue) {
            // Another key's list is no replacement for one that has lost its URLs.
            case .spoiled(let rejection): return .failure(rejection)
            case .empty: empty.append(key.stringValue)
            case .other: (isLost, hasOther) = (true, true)
            case .verdict(.success) where hasRepeatedKey && outline.mayRepeat(key.stringValue):
                return .failure(.repeatedKeys)
            case .verdict(.success(let list)):
                // Except under “apps”, an array of URLs does not replace a larger number of named URLs, or of apps,
                // beside it.
                if key.stringValue != preferredKeys[0], reader.dictionaries == 0,
                    let larger = larger(than: list.entries.count, besides: key, in: dictionary, limits)
                {
                    return .failure(.ambiguousShape(keys: [key.stringValue] + larger))
                }
                return .success(list)
            case .verdict(let failure): return failure
            }
        }
        // A shop of apps may have the keys of a package, but a package has no list of apps.
        if MunkiItem.isItem(dictionary),
            larger(than: 0, besides: MunkiItem.iconNameKey, in: dictionary, limits)?.isEmpty != false
        {
            var reader = EntryReader(limits: limits)
            return reader.read(dictionary)
        }
        var candidates: [(key: String, reading: EntryReader.Reading)] = []
        // Whether no array of other values than URLs has a dictionary, or more than one URL.
        var haveOneLink = true
        var texts: [(key: String, reading: EntryReader.Reading, urls: Int, isWrapped: Bool)] = []
        var spoiled: ListRejection?
        // The most dictionaries in one value that has no app: that value may be a list that has lost its shape.
        var unread = 0
        var named = NamedIcons(limits: limits)
        for key in dictionary.allKeys.sorted(by: { NaturalName($0.stringValue) < NaturalName($1.stringValue) }) {
            if let text = try? dictionary.decode(String.self, forKey: key) {
                named.add(text, for: key.stringValue)
                if let rejection = named.rejection { return .failure(rejection) }
                continue
            }
            let array = try? dictionary.nestedUnkeyedContainer(forKey: key)
            let value = array == nil ? (try? dictionary.nestedContainer(keyedBy: ListKey.self, forKey: key)) : nil
            let isFigure = array == nil && value == nil && (try? dictionary.decodeNil(forKey: key)) != true
            named.addOther(for: key.stringValue, isFigure: isFigure)
            guard let array else {
                unread = max(unread, value.map(dictionaries(in:)) ?? 0)
                continue
            }
            var reader = EntryReader(limits: limits)
            switch reader.read(array, at: ListPath.key(key.stringValue)) {
            // An empty array is a list only under a preferred key.
            case .empty: continue
            case .other: unread = max(unread, reader.dictionaries)
            case .spoiled(let rejection): spoiled = spoiled ?? rejection
            // An array of URLs is a list even if none of them can be requested.
            case let reading
            where reader.rejection == nil && (try? dictionary.decode([String].self, forKey: key)) != nil:
                let plain = reader.draft.entries.count
                texts.append((key.stringValue, reading, plain + reader.wrappedURLs, isWrapped: plain == 0))
            case let reading:
                candidates.append((key.stringValue, reading))
                let urls = reader.draft.entries.count + reader.wrappedURLs
                haveOneLink = haveOneLink && reader.dictionaries == 0 && urls <= 1
            }
        }
        // An array whose URLs are all in quotes or brackets is a list if there is no other list.
        let wrapped = texts.reduce(0) { $0 + ($1.isWrapped ? $1.urls : 0) }
        if !candidates.isEmpty || texts.contains(where: { !$0.isWrapped }) || named.urls >= max(wrapped, 1) {
            texts.removeAll(where: \.isWrapped)
        }
        let namedURLs = named.urls + (texts.allSatisfy(\.isWrapped) ? named.wrappedURLs : 0)
        // If there are more named URLs, an array of URLs is just the value of another name.
        let inArrays = texts.reduce(0) { $0 + $1.urls }
        let arrays = (texts.map(\.key) + candidates.map(\.key)).map(ListPath.key)
        func ambiguous(_ keys: [String]) -> ListVerdict {
            .failure(.ambiguousShape(keys: Array(keys.prefix(ListRejection.maxKeys))))
        }
        if !empty.isEmpty {
            // One of several values of a key was taken: another one may be the list.
            if hasRepeatedKey { return .failure(.repeatedKeys) }
            guard arrays.isEmpty, namedURLs < 2 else { return ambiguous(empty + arrays) }
            return hasOther ? .failure(.noKnownShape) : .success(AppList())
        }
        let isTie = namedURLs == inArrays || namedURLs < inArrays && named.blanks >= inArrays
        if inArrays > 0, isTie, candidates.isEmpty { return ambiguous(arrays) }
        if isLost, candidates.isEmpty { return .failure(.noKnownShape) }
        // The error of a server has one link.
        let isList = !haveOneLink || inArrays > 1 || named.words == 0
        if namedURLs <= inArrays { candidates += texts.map { ($0.key, $0.reading) } }
        switch candidates.count {
        case 0 where hasRepeatedKey && (try? named.verdict.get()) != nil: return .failure(.repeatedKeys)
        case 0 where spoiled == nil && unread > namedURLs: return .failure(.noKnownShape)
        case 0: return spoiled.map { .failure($0) } ?? named.verdict
        case 1 where hasRepeatedKey && outline.mayRepeat(candidates[0].key): return .failure(.repeatedKeys)
        case 1:
            return verdict(of: candidates[0].reading).flatMap { isList ? .success($0) : .failure(.noKnownShape) }
        default:
            return ambiguous(candidates.map { ListPath.key($0.key) })
        }
    }

    /// Whether the value of a key is a text that can be the URL of an icon, unlike a single word.
    private static func isURL(
        under key: ListKey, of dictionary: KeyedDecodingContainer<ListKey>, _ limits: ListLimits
    ) -> Bool {
        guard let text = EntryReader.trimmed(key, of: dictionary), case .success = limits.icon(text) else {
            return false
        }
        return text.utf8.contains(where: "./".utf8.contains)
    }

    /// The number of dictionaries that a dictionary has as values.
    private static func dictionaries(in value: KeyedDecodingContainer<ListKey>) -> Int {
        value.allKeys.count { (try? value.nestedContainer(keyedBy: ListKey.self, forKey: $0)) != nil }
    }

    /// The part of a dictionary that has more apps than `count`: the keys of arrays of dictionaries, or no keys for
    /// named URLs.
    ///
    /// Returns `nil` if no part has more.
    private static func larger(
        than count: Int, besides own: ListKey, in dictionary: KeyedDecodingContainer<ListKey>, _ limits: ListLimits
    ) -> [String]? {
        var keys: [String] = []
        var named = 0
        for key in dictionary.allKeys where key.stringValue != own.stringValue {
            if let text = try? dictionary.decode(String.self, forKey: key) {
                if limits.isPlainURL(text), !NamedIcons.isRemark(key.stringValue) { named += 1 }
            } else if let array = try? dictionary.nestedUnkeyedContainer(forKey: key), array.count ?? 0 > count {
                var reader = EntryReader(limits: limits)
                guard case .verdict(.success) = reader.read(array, at: key.stringValue),
                    reader.draft.entries.count > count, reader.dictionaries > 0
                else { continue }
                keys.append(ListPath.key(key.stringValue))
            }
        }
        return keys.isEmpty && named <= count ? nil : Array(keys.sorted().prefix(ListRejection.maxKeys - 1))
    }
}

struct ListKey: CodingKey {
    let stringValue: String

    init(_ key: String) { stringValue = key }
    init?(stringValue: String) { self.stringValue = stringValue }

    var intValue: Int? { nil }
    init?(intValue: Int) { return nil }
}
