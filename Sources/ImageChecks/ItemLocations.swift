// SPDX-License-Identifier: Apache-2.0

/// The locations of the items of an ISO media file (`iloc`, ISO/IEC 14496-12, 8.11.3).
struct ItemLocations {
    /// The content of `iloc`.
    let content: Range<Int>
    /// The content of `idat`; empty if the file has none.
    let itemData: Range<Int>

    /// Sizes of the numbers in an entry, in bytes.
    private struct Sizes {
        var item = 2
        var method = 0
        var index = 0
        var offset: Int
        var length: Int
        var base: Int

        var extent: Int { index + offset + length }
    }

    /// Checks that the data of every item is within the file.
    func check(in bytes: RawSpan) throws(ImageFault) {
        let start = try content.atLeast(8).lowerBound
        let version = try bytes.byte(at: start)
        guard version <= 2 else { throw .malformed("the version of its list of locations is unknown (iloc)") }
        let packed = try bytes.uint16(at: start + 4, .big)
        var sizes = Sizes(offset: packed >> 12, length: packed >> 8 & 0xF, base: packed >> 4 & 0xF)
        if version > 0 { (sizes.method, sizes.index) = (2, packed & 0xF) }
        if version == 2 { sizes.item = 4 }
        guard [sizes.offset, sizes.length, sizes.base, sizes.index].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw .malformed("its list of locations has numbers of an unknown length (iloc)")
        }
        var remaining = try bytes.number(at: start + 6, size: sizes.item, .big)
        guard remaining > 0 else { throw .malformed("it has no data (iloc)") }
        var offset = start + 6 + sizes.item
        while remaining > 0 {
            offset = try checkItem(in: bytes, at: offset, sizes)
            remaining -= 1
        }
    }

    /// Checks the item whose entry is at an offset, and returns the end of the entry.
    private func checkItem(in bytes: RawSpan, at start: Int, _ sizes: Sizes) throws(ImageFault) -> Int {
        let headerLength = sizes.item + sizes.method + 2 + sizes.base + 2
        guard content.upperBound - start >= headerLength else { throw Self.cut }
        var offset = start + sizes.item
        let method = sizes.method == 0 ? 0 : try bytes.uint16(at: offset, .big) & 0xF
        offset += sizes.method
        // Index 0 means this file.
        guard try bytes.uint16(at: offset, .big) == 0 else { throw .malformed("its data is in another file (iloc)") }
        let base = try bytes.number(at: offset + 2, size: sizes.base, .big)
        let count = try bytes.uint16(at: offset + 2 + sizes.base, .big)
        offset = start + headerLength
        guard count * sizes.extent <= content.upperBound - offset else { throw Self.cut }
        // Extents of zero bytes are all equal: one check is enough.
        for _ in 0..<(sizes.extent == 0 ? min(count, 1) : count) {
            offset += sizes.index
            let place = try bytes.number(at: offset, size: sizes.offset, .big)
            let length = try bytes.number(at: offset + sizes.offset, size: sizes.length, .big)
            offset += sizes.offset + sizes.length
            try checkExtent(at: base.addingReportingOverflow(place), length, method, in: bytes)
        }
        return offset
    }

    private func checkExtent(
        at place: (partialValue: Int, overflow: Bool), _ length: Int, _ method: Int, in bytes: RawSpan
    ) throws(ImageFault) {
        // Method 0: in the file; 1: in `idat`; others are built from other items.
        guard method <= 1 else { return }
        let available = method == 0 ? bytes.byteCount : itemData.count
        guard !place.overflow, place.partialValue <= available, length <= available - place.partialValue else {
            throw method == 0 ? .truncated : .malformed("the data of an item is not there (idat)")
        }
    }

    private static let cut = ImageFault.malformed("its list of locations is cut (iloc)")
}
