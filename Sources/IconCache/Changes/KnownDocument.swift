// SPDX-License-Identifier: Apache-2.0

/// The knowledge of a subscriber to one app list.
struct KnownDocument: Subscription {
    private let list: ListName
    /// The digest of the last document delivered: `.some(nil)` if there was no such list, `nil` if nothing was
    /// delivered yet.
    private var delivered: Digest??

    init(_ list: ListName) {
        self.list = list
    }

    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [AppListDocument?] {
        let newest = snapshot.manifest.lists[list]?.sha256
        guard delivered != .some(newest) else { return [] }
        let document = try snapshot.document(of: list)
        delivered = .some(newest)
        return [document]
    }

    mutating func advanceToNothing() -> [AppListDocument?] {
        guard delivered == nil else { return [] }
        delivered = .some(nil)
        return [nil]
    }
}
