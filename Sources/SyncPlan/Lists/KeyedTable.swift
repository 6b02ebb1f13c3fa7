// SPDX-License-Identifier: Apache-2.0

/// A value that contains its own, immutable key.
protocol Keyed {
    associatedtype Key: Hashable
    var key: Key { get }
}

/// A hash table of values that contain their keys, and keep their places.
struct KeyedTable<Element: Keyed & Sendable>: Sendable {
    private var rows = Rows<Element>()
    private var index = HashedPlaces()

    /// The element at a place.
    subscript(place: Int) -> Element {
        _read { yield rows[place] }
        _modify { yield &rows[place] }
    }

    /// The place of an element; `nil` if there is none.
    func index(of key: Element.Key) -> Int? { place(of: key, key.hashValue) }

    private func place(of key: Element.Key, _ hash: Int) -> Int? { index.place(hash) { rows[$0].key == key } }

    /// The place of an element; creates it if there is none.
    mutating func place(of key: Element.Key, default new: @autoclosure () -> Element) -> Int {
        let hash = key.hashValue
        if let place = place(of: key, hash) { return place }
        let place = rows.add(new())
        index.insert(place, hash)
        return place
    }

    mutating func remove(at place: Int) {
        index.remove(place, rows[place].key.hashValue)
        rows.remove(at: place)
    }

    /// The number of elements.
    var count: Int { rows.count }

    /// The places of all elements, in order.
    var places: [Int] { rows.places }
}
