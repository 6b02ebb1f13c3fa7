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

    /// The number of bytes that rows have.
    var used: Int { bytes.count - unused }

    // MARK: Texts

    /// Adds a row; returns its place.
    mutating func append(_ text: String) -> Int {
        let place = spans.count
        write(text, at: place)
        return place
    }

    mutating func write(_ text: String, at place: Int) { write(at: place) { $0 += text.utf8 } }

    /// The bytes of a row as a text.
    func text(at place: Int) -> String {
        bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[range(of: place)]), as: UTF8.self)
        }
    }

    /// Whether a row has the bytes of a text, and no others.
    func has(_ text: String, at place: Int) -> Bool {
        let range = range(of: place)
        guard range.count == text.utf8.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            text.utf8.withContiguousStorageIfAvailable { text in
                guard let own = bytes.baseAddress, let text = text.baseAddress else { return true }
                return Self.areEqual(own + range.lowerBound, UnsafeRawPointer(text), range.count)
            } ?? bytes[range].elementsEqual(text.utf8)
        }
    }

    /// Compares eight bytes at a time: the last ones first, in which most URLs differ, then the others.
    private static func areEqual(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Bool {
        func differ<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Word.Type) -> Bool {
            one.loadUnaligned(fromByteOffset: offset, as: Word.self)
                != other.loadUnaligned(fromByteOffset: offset, as: Word.self)
        }
        let last = count - 8
        guard last >= 0 else { return !(0..<count).contains { differ(at: $0, UInt8.self) } }
        if differ(at: last, UInt64.self) { return false }
        var offset = 0
        while offset < last {
            if differ(at: offset, UInt64.self) { return false }
            offset += 8
        }
        return true
    }

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
