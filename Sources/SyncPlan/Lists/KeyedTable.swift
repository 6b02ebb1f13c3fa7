// SPDX-License-Identifier: Apache-2.0

/// Something that is found by a part of itself, which never changes.
protocol Keyed {
    associatedtype Key: Hashable
    var key: Key { get }
}

/// Values, by a key that each of them has.
///
/// They lie side by side, and are changed in place. A dictionary would keep each key a second time, and room for as many
/// again that are not there; here there are eight bytes a place for that.
struct KeyedTable<Element: Keyed & Sendable>: Sendable {
    private var elements: [Element] = []
    /// The upper half of a key's hash, and beside it one more than the place of its element; 0 where there is none.
    ///
    /// Each is in the slot that its hash gives, or in the next one that was free.
    private var slots: [UInt64] = []

    /// The element with a key; `nil` if there is none.
    subscript(key: Element.Key) -> Element? {
        index(of: key).map { elements[$0] }
    }

    /// Where the element with a key is, until one is taken out; `nil` if there is none.
    func index(of key: Element.Key) -> Int? {
        if slots.isEmpty { return nil }
        let slot = slots[slot(of: key, Self.mark(key))]
        return slot == 0 ? nil : Self.place(slot)
    }

    /// Changes an element in place.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - new: Makes the element if there is none.
    ///   - change: Changes it.
    /// - Returns: What that gives.
    mutating func update<Result>(
        _ key: Element.Key, default new: @autoclosure () -> Element, _ change: (inout Element) -> Result
    ) -> Result {
        if 4 * (elements.count + 1) > 3 * slots.count { grow() }
        let mark = Self.mark(key)
        let slot = slot(of: key, mark)
        if slots[slot] == 0 {
            if elements.count == elements.capacity { elements.reserveCapacity(Self.room(beyond: elements.count)) }
            elements.append(new())
            slots[slot] = mark | UInt64(elements.count)
        }
        return change(&elements[Self.place(slots[slot])])
    }

    /// Changes an element in place, if there is one with this key.
    mutating func update(_ key: Element.Key, _ change: (inout Element) -> Void) {
        if let index = index(of: key) { change(&elements[index]) }
    }

    /// Changes an element in place, of which it is known where it is.
    mutating func update<Result>(at index: Int, _ change: (inout Element) -> Result) -> Result {
        change(&elements[index])
    }

    /// Takes an element out; the last one takes its place.
    ///
    /// - Returns: `nil` if there was none.
    @discardableResult
    mutating func remove(_ key: Element.Key) -> Element? {
        if slots.isEmpty { return nil }
        let slot = slot(of: key, Self.mark(key))
        guard slots[slot] != 0 else { return nil }
        let (place, last) = (Self.place(slots[slot]), elements.count - 1)
        if place != last {
            let mark = Self.mark(elements[last].key)
            slots[self.slot(of: elements[last].key, mark)] = mark | UInt64(place + 1)
            elements.swapAt(place, last)
        }
        free(slot)
        return elements.removeLast()
    }

    /// For how many elements room is made at once: an array takes room for as many again as there are, however many.
    private static func room(beyond count: Int) -> Int { count + Swift.max(8, count / (count < 1024 ? 1 : 8)) }

    // MARK: Slots

    private static func mark(_ key: Element.Key) -> UInt64 {
        UInt64(truncatingIfNeeded: key.hashValue) & 0xFFFF_FFFF_0000_0000
    }

    private static func place(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }

    /// The slot that a hash gives: there is a power of two of them.
    private func home(_ slot: UInt64) -> Int { Int(slot >> 32) & (slots.count - 1) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// The slot of a key, or the free one that it would get.
    private func slot(of key: Element.Key, _ mark: UInt64) -> Int {
        var slot = home(mark)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == mark >> 32, elements[Self.place(slots[slot])].key == key { return slot }
            slot = next(slot)
        }
        return slot
    }

    /// Makes a slot free, which nothing is searched for beyond that is not where it belongs.
    private mutating func free(_ freed: Int) {
        var (free, slot) = (freed, next(freed))
        while slots[slot] != 0 {
            let mask = slots.count - 1
            // It may move back as far as to where it belongs.
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

extension KeyedTable: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { elements.count }
    subscript(index: Int) -> Element {
        // An element is not copied to look at a part of it.
        _read { yield elements[index] }
    }
}
