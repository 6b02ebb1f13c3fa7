// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The records of icons, by URL.
package struct IconTable: Sendable {
    package struct Element: Keyed, Sendable {
        package let url: IconURL
        package var icon: IconRecord

        var key: IconURL { url }
    }

    private var table = KeyedTable<Element>()

    package init() {}

    package subscript(url: IconURL) -> IconRecord? {
        table.index(of: url).map { table[$0].icon }
    }

    /// Where the record of a URL is, until one is taken out; `nil` if there is none.
    package func index(of url: IconURL) -> Int? { table.index(of: url) }

    /// The URL that is a key here, for one that equals it: there is no need for the text of both.
    func spelling(of url: IconURL) -> IconURL {
        table.index(of: url).map { table[$0].url } ?? url
    }

    /// The URLs, in any order.
    package var keys: some Collection<IconURL> { table.lazy.map(\.url) }

    /// Changes a record in place.
    ///
    /// - Parameters:
    ///   - url: Its URL.
    ///   - new: Makes the record if there is none.
    ///   - change: Changes it.
    /// - Returns: What that gives.
    mutating func update<Result>(
        _ url: IconURL, default new: @autoclosure () -> IconRecord, _ change: (inout IconRecord) -> Result
    ) -> Result {
        table.update(url, default: Element(url: url, icon: new())) { change(&$0.icon) }
    }

    /// Takes a record out; the last one takes its place.
    ///
    /// - Returns: `nil` if there was none.
    mutating func remove(_ url: IconURL) -> IconRecord? { table.remove(url)?.icon }
}

extension IconTable: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { table.count }
    package subscript(index: Int) -> Element {
        // A record is not copied to look at a part of it.
        _read { yield table[index] }
    }
}
