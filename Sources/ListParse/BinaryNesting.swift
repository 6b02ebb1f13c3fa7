// SPDX-License-Identifier: Apache-2.0

/// Measures the nesting and the number of values of a binary property list.
///
/// A trailer of 32 bytes locates a table of offsets; containers refer to their members by indexes into that table.
/// Containers can be shared, so that a small file expands to many values, and can contain themselves: then the nesting
/// is endless.
struct BinaryNesting {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int

    /// Reads the trailer; `nil` if it is invalid.
    init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { return nil }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let objectCount = Self.number(bytes, at: trailer + 8, size: 8),
            let topObject = Self.number(bytes, at: trailer + 16, size: 8),
            let tableOffset = Self.number(bytes, at: trailer + 24, size: 8),
            objectCount > 0, topObject < objectCount, tableOffset < trailer,
            objectCount <= (trailer - tableOffset) / offsetSize
        else { return nil }
        self.objectCount = objectCount
        self.topObject = topObject
        self.tableOffset = tableOffset
    }

    /// The size of a container, including its members.
    struct Extent: Equatable {
        /// The nesting depth of containers, itself included.
        var depth = 0
        /// The number of values, counted once per reference.
        var values = 1
    }

    /// Measures the whole list; `nil` if it is nested deeper than the limit.
    ///
    /// Each container is measured once. Containers can also share parts of their references, so that measuring all of
    /// them would take far longer than reading the file: when the number of values exceeds the limit, measuring stops,
    /// with an incomplete depth.
    func extent(maxDepth: Int, maxValues: Int) -> Extent? {
        var known: [Int: Extent] = [:]
        return measure(topObject, room: maxDepth, maxValues, &known)
    }

    /// The number of keys of the outermost dictionary, or of those that may be a given one, duplicates included; 0 if the
    /// list is not a dictionary.
    func topKeys(thatMayBe key: String? = nil) -> Int {
        guard let start = start(of: topObject), bytes[start] >> 4 == 0xD, let members = members(of: topObject) else {
            return 0
        }
        let keys = stride(from: members.lowerBound, to: members.lowerBound + members.count / 2, by: referenceSize)
        return keys.count { mayBe(key, at: $0) }
    }

    /// Whether a reference leads to this key, or to anything but a short text in ASCII.
    private func mayBe(_ key: String?, at position: Int) -> Bool {
        guard let key, let object = Self.number(bytes, at: position, size: referenceSize), object < objectCount,
            let start = start(of: object), (0x50...0x5E).contains(bytes[start])
        else { return true }
        return bytes[(start + 1)...].prefix(Int(bytes[start] & 0xF)).elementsEqual(key.utf8)
    }

    /// The offset of an object; `nil` if it exceeds the objects.
    private func start(of object: Int) -> Int? {
        Self.number(bytes, at: tableOffset + object * offsetSize, size: offsetSize).flatMap {
            $0 < tableOffset ? $0 : nil
        }
    }

    private func measure(_ object: Int, room: Int, _ maxValues: Int, _ known: inout [Int: Extent]) -> Extent? {
        guard let members = members(of: object) else { return Extent() }
        if let extent = known[object] { return extent.depth <= room ? extent : nil }
        guard room > 0 else { return nil }
        var extent = Extent()
        for position in stride(from: members.lowerBound, to: members.upperBound, by: referenceSize) {
            guard let member = Self.number(bytes, at: position, size: referenceSize), member < objectCount else {
                extent.values += 1
                continue
            }
            guard let inner = measure(member, room: room - 1, maxValues, &known) else { return nil }
            extent.depth = max(extent.depth, inner.depth)
            extent.values += inner.values
            if extent.values > maxValues { break }
        }
        extent.depth += 1
        known[object] = extent
        return extent
    }

    /// The range of a container's references; `nil` if the object is not a container, or exceeds the file.
    private func members(of object: Int) -> Range<Int>? {
        guard let start = start(of: object) else { return nil }
        let perMember: Int
        switch bytes[start] >> 4 {
        case 0xA, 0xB, 0xC: perMember = 1
        case 0xD: perMember = 2
        default: return nil
        }
        var first = start + 1
        var count = Int(bytes[start] & 0xF)
        if count == 0xF {
            // The count is an integer object of 2^n bytes.
            guard first < tableOffset, bytes[first] & 0xF0 == 0x10 else { return nil }
            let size = 1 << Int(bytes[first] & 0xF)
            guard let long = Self.number(bytes, at: first + 1, size: size) else { return nil }
            first += 1 + size
            count = long
        }
        guard count <= (tableOffset - first) / (perMember * referenceSize) else { return nil }
        return first..<first + count * perMember * referenceSize
    }

    /// Reads a big-endian number; `nil` if it is out of range, or larger than any file.
    private static func number(_ bytes: [UInt8], at position: Int, size: Int) -> Int? {
        guard size <= 8, position <= bytes.count - size else { return nil }
        let number = bytes[position..<position + size].reduce(0) { $0 << 8 | UInt64($1) }
        return number < 1 << 40 ? Int(number) : nil
    }
}
