// SPDX-License-Identifier: Apache-2.0

/// Bytes of the rows of a table, by place, one after the other: an array for each row would be an object with a header.
///
/// Bytes that no row has any more stay in between, until they are more than the others, and than the places.
struct RowBytes: Sendable {
    private var bytes: [UInt8] = []
    /// By place: where the row's bytes are; 0 if it has none.
    private var spans: [UInt64] = []
    /// The number of bytes that no row has any more.
    private var unused = 0

    /// The bytes of a row; empty if it has none.
    subscript(place: Int) -> ArraySlice<UInt8> { bytes[range(of: place)] }

    /// Replaces the bytes of a row by those that are appended.
    mutating func write(at place: Int, _ append: (inout [UInt8]) -> Void) {
        remove(at: place)
        if spans.count <= place { spans += repeatElement(0, count: place + 1 - spans.count) }
        let start = bytes.count
        append(&bytes)
        spans[place] = Self.span(start..<bytes.count)
    }

    mutating func remove(at place: Int) {
        let range = range(of: place)
        guard !range.isEmpty else { return }
        spans[place] = 0
        if range.upperBound == bytes.count { bytes.removeLast(range.count) } else { unused += range.count }
        if unused > max(bytes.count / 2, spans.count) { compact() }
    }

    /// The number of bytes of all rows, with those in between.
    var count: Int { bytes.count }

    /// Moves the bytes of all rows together.
    private mutating func compact() {
        var new: [UInt8] = []
        new.reserveCapacity(bytes.count - unused)
        for place in spans.indices where spans[place] != 0 {
            let start = new.count
            new += bytes[range(of: place)]
            spans[place] = Self.span(start..<new.count)
        }
        (bytes, unused) = (new, 0)
    }

    // MARK: Spans

    /// A span has the length in its lowest bits, and the start above them: for 64 GiB, and 256 MiB a row.
    private static let lengthBits: UInt64 = 28

    private static func span(_ range: Range<Int>) -> UInt64 {
        precondition(range.count < 1 << lengthBits, "a row has less than 256 MiB")
        return range.isEmpty ? 0 : UInt64(range.lowerBound) << lengthBits | UInt64(range.count)
    }

    private func range(of place: Int) -> Range<Int> {
        guard place < spans.count else { return 0..<0 }
        let start = Int(spans[place] >> Self.lengthBits)
        return start..<start + Int(spans[place] & (1 << Self.lengthBits - 1))
    }
}
