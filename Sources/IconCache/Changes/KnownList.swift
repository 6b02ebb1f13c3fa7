// SPDX-License-Identifier: Apache-2.0

/// What a subscriber was told of one app list.
struct KnownList: Subscription {
    private let list: ListName
    /// The digest of the document, if anything was told yet; `nil` stands for no such list.
    private var told: Digest??

    init(_ list: ListName) {
        self.list = list
    }

    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [AppListDocument?] {
        let newest = snapshot.manifest.lists[list]?.sha256
        guard told != .some(newest) else { return [] }
        let document = try snapshot.document(of: list)
        told = .some(newest)
        return [document]
    }

    mutating func advanceToNothing() -> [AppListDocument?] {
        guard told == nil else { return [] }
        told = .some(nil)
        return [nil]
    }
}
