// SPDX-License-Identifier: Apache-2.0
import AppLists

extension EntryReader {
    private static let assetsKey = ListKey("assets")
    private static let kinds = ["display-image", "full-size-image"]
    private static let kindKey = ListKey("kind")
    private static let urlKey = ListKey("url")
    private static let metadataKey = ListKey("metadata")
    private static let titleKey = ListKey("title")
    private static let identifierKey = ListKey("bundle-identifier")

    /// Adds the icons of an over-the-air install manifest item: its `assets` of kind `display-image` and
    /// `full-size-image`.
    ///
    /// Returns whether it is such an item.
    mutating func addInstallItem(_ item: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Bool {
        guard var assets = try? item.nestedUnkeyedContainer(forKey: Self.assetsKey) else { return false }
        count(assets)
        var name: String?
        var identifier: String?
        if let metadata = try? item.nestedContainer(keyedBy: ListKey.self, forKey: Self.metadataKey) {
            name = text(Self.titleKey, of: metadata, at: place.within(Self.metadataKey))
            identifier = text(Self.identifierKey, of: metadata, at: place.within(Self.metadataKey))
        }
        var hasIcon = false
        while !assets.isAtEnd, rejection == nil {
            let asset = EntryPlace(array: place.key(Self.assetsKey), index: assets.currentIndex)
            guard let dictionary = try? assets.nestedContainer(keyedBy: ListKey.self) else {
                draft.addProblem("\(asset)", "not a dictionary")
                guard (try? assets.decode(Anything.self)) != nil else { break }
                continue
            }
            guard let kind = try? dictionary.decode(String.self, forKey: Self.kindKey),
                Self.kinds.contains(kind)
            else { continue }
            hasIcon = true
            switch icon(Self.urlKey, of: dictionary) {
            // An app has an image of each kind.
            case .success(let url):
                append(
                    AppEntry(name: name, id: identifier.map { "\($0) \(kind)" }, icon: url),
                    at: asset.key(Self.urlKey))
            case .failure(let flaw):
                draft.addUnusable(
                    name: name, id: identifier.map { "\($0) \(kind)" }, at: asset.key(Self.urlKey), flaw.description)
            }
        }
        if !hasIcon {
            let keyPath = place.key(Self.assetsKey)
            draft.addProblem(keyPath, "no display-image or full-size-image")
            for kind in Self.kinds {
                draft.addUnusable(name: name, id: identifier.map { "\($0) \(kind)" }, at: keyPath)
            }
        }
        return true
    }
}
