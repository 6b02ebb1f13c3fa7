// SPDX-License-Identifier: Apache-2.0

/// A value that contains its own, immutable key.
protocol Keyed {
    associatedtype Key: Hashable
    var key: Key { get }
    /// A value without a key, for a place where none is.
    static var vacant: Self { get }
    var isVacant: Bool { get }
}

/// A hash table of values that contain their keys.
///
/// The values are contiguous and are changed in place; each keeps its place until it is removed, and a later one takes that
/// then. A `Dictionary` would store each key twice, and its free slots have room for keys and values; a slot here takes
/// 8 bytes.
struct KeyedTable<Element: Keyed & Sendable>: Sendable {
    private var stored: [Element] = []
    /// The places where no element is.
    private var vacancies: [UInt32] = []
    /// Linear probing: the upper half of the key's hash, and the element's index + 1 in the lower half; 0 if free.
    private var slots: [UInt64] = []

    subscript(key: Element.Key) -> Element? {
        index(of: key).map { stored[$0] }
    }

    /// The element at a place.
    subscript(place: Int) -> Element {
        // Reading a part of an element does not copy the element.
        _read { yield stored[place] }
    }

    /// The place of an element; `nil` if there is none.
    func index(of key: Element.Key) -> Int? {
        if slots.isEmpty { return nil }
        let slot = slots[slot(of: key, Self.mark(key))]
        return slot == 0 ? nil : Self.place(slot)
    }

    /// The place of an element; creates it if there is none.
    mutating func place(of key: Element.Key, default new: @autoclosure () -> Element) -> Int {
        if 4 * (count + 1) > 3 * slots.count { grow() }
        let mark = Self.mark(key)
        let slot = slot(of: key, mark)
        if slots[slot] == 0 { slots[slot] = mark | UInt64(add(new()) + 1) }
        return Self.place(slots[slot])
    }

    private mutating func add(_ element: Element) -> Int {
        if let place = vacancies.popLast() {
            stored[Int(place)] = element
            return Int(place)
        }
        if stored.count == stored.capacity { stored.reserveCapacity(Self.room(beyond: stored.count)) }
        stored.append(element)
        return stored.count - 1
    }

    /// Changes an element in place, creating it if there is none; returns the result of `change`.
    mutating func update<Result>(
        _ key: Element.Key, default new: @autoclosure () -> Element, _ change: (inout Element) -> Result
    ) -> Result {
        change(&stored[place(of: key, default: new())])
    }

    mutating func update(_ key: Element.Key, _ change: (inout Element) -> Void) {
        if let index = index(of: key) { change(&stored[index]) }
    }

    mutating func update<Result>(at index: Int, _ change: (inout Element) -> Result) -> Result {
        change(&stored[index])
    }

    /// Removes an element.
    @discardableResult
    mutating func remove(_ key: Element.Key) -> Element? {
        if slots.isEmpty { return nil }
        let slot = slot(of: key, Self.mark(key))
        guard slots[slot] != 0 else { return nil }
        let place = Self.place(slots[slot])
        free(slot)
        var element = Element.vacant
        swap(&element, &stored[place])
        vacancies.append(UInt32(place))
        return element
    }

    /// The number of elements.
    var count: Int { stored.count - vacancies.count }

    /// The places of all elements, in order.
    var places: [Int] { stored.indices.filter { !stored[$0].isVacant } }

    /// All elements, in the order of their places; iterating over them copies them.
    var elements: some Sequence<Element> { stored.lazy.filter { !$0.isVacant } }

    /// The capacity for more elements: double up to 1024, then an eighth more; an `Array` would always double.
    private static func room(beyond count: Int) -> Int { count + Swift.max(8, count / (count < 1024 ? 1 : 8)) }

    // MARK: Slots

    private static func mark(_ key: Element.Key) -> UInt64 {
        UInt64(truncatingIfNeeded: key.hashValue) & 0xFFFF_FFFF_0000_0000
    }

    private static func place(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }

    /// The slot that a hash selects; the number of slots is a power of two.
    private func home(_ slot: UInt64) -> Int { Int(slot >> 32) & (slots.count - 1) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// The slot of a key, or the free slot to insert it in.
    private func slot(of key: Element.Key, _ mark: UInt64) -> Int {
        var slot = home(mark)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == mark >> 32, stored[Self.place(slots[slot])].key == key { return slot }
            slot = next(slot)
        }
        return slot
    }

    /// Frees a slot, and moves later entries back so that searches still find them.
    private mutating func free(_ freed: Int) {
        var (free, slot) = (freed, next(freed))
        while slots[slot] != 0 {
            let mask = slots.count - 1
            // An entry must not move before its home slot.
            if (slot - home(slots[slot])) & mask >= (slot - free) & mask {
                slots[free] = slots[slot]
                free = slot
            }
            slot = next(slot)
        }
        slots[free] = 0
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: Swift.max(8, 2 * old.count))
        for entry in old where entry != 0 {
            var slot = home(entry)
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = entry
        }
    }
}
