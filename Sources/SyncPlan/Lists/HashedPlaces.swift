// SPDX-License-Identifier: Apache-2.0

/// The places of values by the hashes of their keys.
///
/// Who has the values compares the keys. A `Dictionary` would store each key twice, and its free slots have room for keys
/// and values; a slot here takes 8 bytes.
struct HashedPlaces: Sendable {
    /// Linear probing: the upper half of the key's hash, and the value's place + 1 in the lower half; 0 if free.
    private var slots: [UInt64] = []
    private var count = 0

    /// The place of a value with this hash for which `isFound` is true; `nil` if there is none.
    func place(_ hash: Int, where isFound: (Int) -> Bool) -> Int? {
        if slots.isEmpty { return nil }
        let mark = Self.mark(hash)
        var slot = home(mark)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == mark >> 32, isFound(Self.place(slots[slot])) { return Self.place(slots[slot]) }
            slot = next(slot)
        }
        return nil
    }

    mutating func insert(_ place: Int, _ hash: Int) {
        count += 1
        if 5 * count > 4 * slots.count { grow() }
        fill(Self.mark(hash) | UInt64(place + 1))
    }

    /// Removes a place, and moves later entries back so that searches still find them.
    mutating func remove(_ place: Int, _ hash: Int) {
        let entry = Self.mark(hash) | UInt64(place + 1)
        var free = home(entry)
        while slots[free] != entry { free = next(free) }
        var slot = next(free)
        while slots[slot] != 0 {
            // An entry must not move before its home slot.
            if distance(from: home(slots[slot]), to: slot) >= distance(from: free, to: slot) {
                slots[free] = slots[slot]
                free = slot
            }
            slot = next(slot)
        }
        slots[free] = 0
        count -= 1
    }

    private static func mark(_ hash: Int) -> UInt64 { UInt64(truncatingIfNeeded: hash) & 0xFFFF_FFFF_0000_0000 }

    private static func place(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }

    /// The slot that a hash selects: the hash's part of all slots.
    private func home(_ slot: UInt64) -> Int { (Int(slot >> 32) * slots.count) >> 32 }

    private func next(_ slot: Int) -> Int { slot + 1 == slots.count ? 0 : slot + 1 }

    /// How far a slot is behind another one.
    private func distance(from start: Int, to slot: Int) -> Int { slot - start + (slot < start ? slots.count : 0) }

    private mutating func fill(_ entry: UInt64) {
        var slot = home(entry)
        while slots[slot] != 0 { slot = next(slot) }
        slots[slot] = entry
    }

    private mutating func grow() {
        let old = slots
        // The number of slots grows by half: more of them are in use than if it always doubled.
        slots = Array(repeating: 0, count: Swift.max(8, old.count + old.count / 2))
        for entry in old where entry != 0 { fill(entry) }
    }
}
