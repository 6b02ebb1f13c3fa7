// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The entries of a list, packed.
///
/// There can be very many; each is created on access.
package struct AppEntries: Equatable, Sendable {
    /// The icon of each entry.
    package let icons: [IconURL]
    package let details: EntryDetails

    package init(_ entries: [AppEntry] = []) { self.init(entries.map(\.icon), EntryDetails(of: entries)) }

    package init(_ icons: [IconURL], _ details: EntryDetails) { (self.icons, self.details) = (icons, details) }

    /// The digest that an entry gives for its image.
    package func expected(at position: Int) -> Digest? { details.expected(at: position) }

    /// Whether two entries have the same name, identity and download text.
    package func hasSameTexts(at position: Int, as other: AppEntries, at otherPosition: Int) -> Bool {
        details.hasSameTexts(at: position, as: other.details, at: otherPosition)
    }
}

extension AppEntries: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { icons.count }

    package subscript(position: Int) -> AppEntry { details.entry(at: position, icons[position]) }
}

extension AppEntries: ExpressibleByArrayLiteral {
    package init(arrayLiteral entries: AppEntry...) { self.init(entries) }
}
