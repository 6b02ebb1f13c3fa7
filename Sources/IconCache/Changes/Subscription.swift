// SPDX-License-Identifier: Apache-2.0

/// A subscriber's knowledge of a cache, with which each newer generation is compared.
protocol Subscription: Sendable {
    associatedtype Element: Sendable

    /// Advances to the newest generation; returns the elements to deliver, none if nothing changed for the subscriber.
    ///
    /// - Throws: ``IconCacheError`` if a document cannot be read; the knowledge is unchanged then.
    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [Element]

    /// The elements to deliver while there is no cache; its absence is a state at the start, but not a change later.
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
