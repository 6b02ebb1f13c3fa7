// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

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

    /// The index of a record, valid until the next removal; `nil` if there is none.
    package func index(of url: IconURL) -> Int? { table.index(of: url) }

    package var keys: some Collection<IconURL> { table.lazy.map(\.url) }

    /// The place of a record until one is removed; creates it if there is none.
    mutating func place(of url: IconURL, default new: @autoclosure () -> IconRecord) -> Int {
        table.place(of: url, default: Element(url: url, icon: new()))
    }

    mutating func update<Result>(at index: Int, _ change: (inout IconRecord) -> Result) -> Result {
        table.update(at: index) { change(&$0.icon) }
    }

    /// Removes a record; the last one takes its place.
    mutating func remove(_ url: IconURL) -> IconRecord? { table.remove(url)?.icon }
}

extension IconTable: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { table.count }
    package subscript(index: Int) -> Element {
        // Reading a part of a record does not copy the record.
        _read { yield table[index] }
    }
}
