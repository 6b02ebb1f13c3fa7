// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// A Munki package (pkginfo): a pkginfo file has one, a catalog has many.
enum MunkiItem {
    static let iconNameKey = ListKey("icon_name")
    static let iconHashKey = ListKey("icon_hash")
    private static let catalogsKey = ListKey("catalogs")

    /// Whether a dictionary is a package: it names its icon, or its catalogs.
    static func isItem(_ dictionary: KeyedDecodingContainer<ListKey>) -> Bool {
        dictionary.contains(iconNameKey) || dictionary.contains(iconHashKey)
            || dictionary.contains(EntryReader.nameKey)
                && (try? dictionary.decodeIfPresent([String].self, forKey: catalogsKey)) != nil
    }

    /// The image suffixes that Munki knows.
    private static let suffixes: Set = [
        "bmp", "gif", "icns", "jpg", "jpeg", "png", "psd", "tga", "tif", "tiff", "yuv",
    ]

    /// The file that Munki looks for: `.png` is appended to a name without a known suffix.
    static func file(named name: String) -> String {
        let last = name.split(atByte: "/", omittingEmpty: false).last ?? ""
        let parts = last.split(atByte: ".")
        // Dots at the beginning of a name do not begin a suffix.
        guard parts.count > 1, let suffix = parts.last, last.ends(withBytes: "." + suffix),
            suffixes.contains(suffix.asciiLowercased)
        else {
            return name + ".png"
        }
        return name
    }
}

extension EntryReader {
    /// Adds the icon that Munki shows for an item; returns whether the dictionary is a Munki item.
    ///
    /// The icon's name is `icon_name`, or else the item's `name`.
    mutating func addMunkiItem(_ item: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Bool {
        guard MunkiItem.isItem(item) else { return false }
        let isNamed =
            item.contains(MunkiItem.iconNameKey) && Self.trimmed(MunkiItem.iconNameKey, of: item) != ""
        let key = isNamed ? MunkiItem.iconNameKey : Self.nameKey
        switch iconName(key, of: item) {
        case .success(let url):
            let name = text(Self.nameKey, of: item, at: place)
            // A catalog has one item per version of an app, all with the same name.
            let id = (name ?? "").isEmpty ? nil : name
            append(
                AppEntry(name: name, id: id, icon: url, expected: digest(of: item, at: place)),
                at: place.key(key))
        case .failure(let flaw):
            if flaw == .relative { lacksIconBase = true }
            let whole = Self.trimmed(Self.nameKey, of: item)
            let name = whole.flatMap { $0.utf8.count <= AppEntry.maxTextBytes ? $0 : nil }
            draft.addUnusable(
                name: name, id: (name ?? "").isEmpty ? nil : name, at: place.key(key), flaw.description)
        }
        return true
    }

    private func iconName(_ key: ListKey, of item: KeyedDecodingContainer<ListKey>) -> Result<IconURL, IconFlaw> {
        guard let name = Self.trimmed(key, of: item) else { return .failure(.notAString) }
        guard !name.isEmpty else { return .failure(.empty) }
        guard let base = limits.iconBase else { return .failure(.relative) }
        let url = base.url(ofFile: MunkiItem.file(named: name))
        return AppEntry.flaw(inIcon: url).map { .failure($0) } ?? .success(IconURL(url))
    }

    /// The digest that an item gives for its image; the versions of an app can give different ones.
    private mutating func digest(of item: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Digest? {
        let key = MunkiItem.iconHashKey
        guard item.contains(key) else { return nil }
        let text = Self.trimmed(key, of: item)
        guard text != "" else { return nil }
        let digest = text.flatMap { Digest(hex: $0.asciiLowercased) }
        if digest == nil { draft.addProblem(place.key(key), "not a SHA-256 digest in hexadecimal digits") }
        return digest
    }
}
