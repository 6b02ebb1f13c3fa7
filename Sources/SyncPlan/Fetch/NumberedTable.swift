// SPDX-License-Identifier: Apache-2.0

/// Values that contain their keys; each has a number until it is removed, which is used again then.
///
/// A key is hashed once, where it comes in: everything else finds the value by its number.
struct NumberedTable<Element: Keyed & Sendable>: Sendable where Element.Key: Sendable {
    private var elements: [Element] = []
    private var numbersByKey: [Element.Key: Int] = [:]
    private var free: [Int] = []

    var count: Int { numbersByKey.count }

    /// All numbers, in no particular order.
    var numbers: some Collection<Int> { numbersByKey.values }

    func number(of key: Element.Key) -> Int? { numbersByKey[key] }

    /// Adds a value with a new key; returns its number.
    mutating func insert(_ element: Element) -> Int {
        let number = free.popLast() ?? elements.count
        if number < elements.count { elements[number] = element } else { elements.append(element) }
        numbersByKey[element.key] = number
        return number
    }

    mutating func remove(_ number: Int) {
        numbersByKey[elements[number].key] = nil
        free.append(number)
    }

    subscript(number: Int) -> Element {
        _read { yield elements[number] }
        _modify { yield &elements[number] }
    }
}
