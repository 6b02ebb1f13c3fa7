// SPDX-License-Identifier: Apache-2.0

/// Contiguous values that are changed in place; each keeps its place until it is removed, and a later one takes that then.
struct Rows<Element: Sendable>: Sendable {
    private var stored: [Element] = []
    /// The places of elements that were removed, which stay there until the places are taken.
    private var vacancies: [UInt32] = []

    /// The element at a place.
    subscript(place: Int) -> Element {
        // Reading or changing a part of an element does not copy the element.
        _read { yield stored[place] }
        _modify { yield &stored[place] }
    }

    /// Adds an element; returns its place.
    mutating func add(_ element: Element) -> Int {
        if let place = vacancies.popLast() {
            stored[Int(place)] = element
            return Int(place)
        }
        if stored.count == stored.capacity { stored.reserveCapacity(Self.room(beyond: stored.count)) }
        stored.append(element)
        return stored.count - 1
    }

    mutating func remove(at place: Int) { vacancies.append(UInt32(place)) }

    /// The number of elements.
    var count: Int { stored.count - vacancies.count }

    /// The places of all elements, in order.
    var places: [Int] {
        if vacancies.isEmpty { return Array(stored.indices) }
        let vacant = Set(vacancies)
        return stored.indices.filter { !vacant.contains(UInt32($0)) }
    }

    /// The capacity for more elements: double up to 1024, then an eighth more; an `Array` would always double.
    private static func room(beyond count: Int) -> Int { count + Swift.max(8, count / (count < 1024 ? 1 : 8)) }
}
