// SPDX-License-Identifier: Apache-2.0

/// What a subscriber was told of a cache, and so what each newer generation is compared with.
protocol Subscription: Sendable {
    associatedtype Element: Sendable

    /// Takes in the newest generation.
    ///
    /// - Parameter snapshot: The generation.
    /// - Returns: What to tell of it; nothing if what was told still holds.
    /// - Throws: ``IconCacheError`` if a document cannot be read; then nothing was taken in.
    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [Element]

    /// What to tell while there is no cache: its absence is a state at the beginning, and no change later.
    mutating func advanceToNothing() -> [Element]
}

extension KnownState: Subscription {
    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [Change] {
        var documents: [AppListDocument] = []
        for list in unknownLists(of: snapshot.manifest) {
            if let document = try snapshot.document(of: list) { documents.append(document) }
        }
        return advance(to: snapshot.manifest, documents: documents)
    }

    func advanceToNothing() -> [Change] { [] }
}
