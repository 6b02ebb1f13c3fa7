// SPDX-License-Identifier: Apache-2.0

/// A value that contains its own, immutable key.
protocol Keyed {
    associatedtype Key: Hashable
    var key: Key { get }
}

/// A hash table of values that contain their keys.
///
/// The values are contiguous and are changed in place; each keeps its place until it is removed, and a later one takes that
/// then. A `Dictionary` would store each key twice, and its free slots have room for keys and values; a slot here takes
/// 8 bytes.
struct KeyedTable<Element: Keyed & Sendable>: Sendable {
    private var stored: [Element] = []
    /// The places of elements that were removed, which stay there until the places are taken.
    private var vacancies: [UInt32] = []
    /// Linear probing: the upper half of the key's hash, and the element's index + 1 in the lower half; 0 if free.
    private var slots: [UInt64] = []

    subscript(key: Element.Key) -> Element? {
        index(of: key).map { stored[$0] }
    }

    /// The element at a place.
    subscript(place: Int) -> Element {
        // Reading or changing a part of an element does not copy the element.
        _read { yield stored[place] }
        _modify { yield &stored[place] }
    }

    /// The place of an element; `nil` if there is none.
    func index(of key: Element.Key) -> Int? {
        if slots.isEmpty { return nil }
        let slot = slots[slot(of: key, Self.mark(key))]
        return slot == 0 ? nil : Self.place(slot)
    }

    /// The place of an element; creates it if there is none.
    mutating func place(of key: Element.Key, default new: @autoclosure () -> Element) -> Int {
        if 5 * (count + 1) > 4 * slots.count { grow() }
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

    mutating func remove(at place: Int) {
        free(slot(of: stored[place].key, Self.mark(stored[place].key)))
        vacancies.append(UInt32(place))
    }

    /// The number of elements.
    var count: Int { stored.count - vacancies.count }

    /// The places of all elements, in order.
    var places: [Int] {
        if vacancies.isEmpty { return Array(stored.indices) }
        let vacant = Set(vacancies)
        return stored.indices.filter { !vacant.contains(UInt32($0)) }
    }

    /// All elements, in the order of their places; iterating over them copies them.
    var elements: some Sequence<Element> { places.lazy.map { stored[$0] } }

    /// The capacity for more elements: double up to 1024, then an eighth more; an `Array` would always double.
    private static func room(beyond count: Int) -> Int { count + Swift.max(8, count / (count < 1024 ? 1 : 8)) }

    // MARK: Slots

    private static func mark(_ key: Element.Key) -> UInt64 {
        UInt64(truncatingIfNeeded: key.hashValue) & 0xFFFF_FFFF_0000_0000
    }

    private static func place(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }

    /// The slot that a hash selects: the hash's part of all slots.
    private func home(_ slot: UInt64) -> Int { (Int(slot >> 32) * slots.count) >> 32 }

    private func next(_ slot: Int) -> Int { slot + 1 == slots.count ? 0 : slot + 1 }

    /// How far a slot is behind another one.
    private func distance(from start: Int, to slot: Int) -> Int { slot - start + (slot < start ? slots.count : 0) }

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
            // An entry must not move before its home slot.
            if distance(from: home(slots[slot]), to: slot) >= distance(from: free, to: slot) {
                slots[free] = slots[slot]
                free = slot
            }
            slot = next(slot)
        }
        slots[free] = 0
    }

    private mutating func grow() {
        let old = slots
        // The number of slots grows by half: more of them are in use than if it always doubled.
        slots = Array(repeating: 0, count: Swift.max(8, old.count + old.count / 2))
        for entry in old where entry != 0 {
            var slot = home(entry)
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = entry
        }
    }
}
