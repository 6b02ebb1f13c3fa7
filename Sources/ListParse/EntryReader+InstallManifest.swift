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
    /// Returns whether the item is one of an install manifest.
    mutating func addInstallItem(_ item: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Bool {
        guard var assets = try? item.nestedUnkeyedContainer(forKey: Self.assetsKey) else { return false }
        count(assets)
        let (name, identifier) = metadata(of: item, at: place)
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
            // An app has an image of each kind, so the kind is part of the identity.
            let id = Self.identity(identifier, kind)
            switch icon(Self.urlKey, of: dictionary) {
            case .success(let url): append(AppEntry(name: name, id: id, icon: url), at: asset.key(Self.urlKey))
            case .failure(let flaw):
                draft.addUnusable(name: name, id: id, at: asset.key(Self.urlKey), flaw.description)
            }
        }
        if !hasIcon { addLostImages(name, identifier, at: place) }
        return true
    }

    /// Adds an install manifest item that has lost its `assets`, known by its metadata, as an app without its images.
    ///
    /// Returns whether the item is such an item.
    mutating func addItemWithoutAssets(_ item: KeyedDecodingContainer<ListKey>, at place: EntryPlace) -> Bool {
        let (name, identifier) = metadata(of: item, at: place)
        guard name != nil || identifier != nil else { return false }
        addLostImages(name, identifier, at: place)
        return true
    }

    /// The identity of an app's image of a kind; `nil` if it would be too long.
    private static func identity(_ identifier: String?, _ kind: String) -> String? {
        identifier.map { "\($0) \(kind)" }.flatMap { $0.utf8.count <= AppEntry.maxTextBytes ? $0 : nil }
    }

    private mutating func metadata(
        of item: KeyedDecodingContainer<ListKey>, at place: EntryPlace
    ) -> (name: String?, identifier: String?) {
        guard let metadata = try? item.nestedContainer(keyedBy: ListKey.self, forKey: Self.metadataKey) else {
            return (nil, nil)
        }
        let place = place.within(Self.metadataKey)
        return (text(Self.titleKey, of: metadata, at: place), text(Self.identifierKey, of: metadata, at: place))
    }

    /// Adds an entry without a URL for each kind of image: an app has an image of each.
    private mutating func addLostImages(_ name: String?, _ identifier: String?, at place: EntryPlace) {
        let ids = Self.kinds.map { Self.identity(identifier, $0) }
        draft.addUnusable(name: name, ids: ids, at: place.key(Self.assetsKey), "no display-image or full-size-image")
        // The item itself has been counted as one element.
        elements += Self.kinds.count - 1
    }
}
