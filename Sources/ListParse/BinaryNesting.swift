// SPDX-License-Identifier: Apache-2.0

/// How deep the containers of a binary property list are inside one another.
///
/// The file ends with 32 bytes that say where a table of offsets lies; each container holds indexes into that table.
/// Containers can be shared, and can hold themselves: that is endless depth.
struct BinaryNesting {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int

    /// The layout that the last 32 bytes give; `nil` if it makes no sense.
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

    /// Whether more containers than the limit are inside one another.
    ///
    /// A container is gone through again only where it is met deeper than before, so sharing costs little.
    func isDeeper(than limit: Int) -> Bool {
        var deepest = [UInt8](repeating: 0, count: objectCount)
        var pending = [(object: topObject, depth: 1)]
        while let (object, depth) = pending.popLast() {
            guard depth > deepest[object], let members = members(of: object) else { continue }
            guard depth <= limit else { return true }
            deepest[object] = UInt8(clamping: depth)
            for position in stride(from: members.lowerBound, to: members.upperBound, by: referenceSize) {
                guard let member = Self.number(bytes, at: position, size: referenceSize), member < objectCount,
                    deepest[member] <= depth
                else { continue }
                pending.append((member, depth + 1))
            }
        }
        return false
    }

    /// Where a container's references lie; `nil` if the object is no container, or not within the file.
    private func members(of object: Int) -> Range<Int>? {
        guard let start = Self.number(bytes, at: tableOffset + object * offsetSize, size: offsetSize),
            start < tableOffset
        else { return nil }
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

    /// A big-endian number; `nil` if it is not within the bytes, or is larger than any file.
    private static func number(_ bytes: [UInt8], at position: Int, size: Int) -> Int? {
        guard size <= 8, position <= bytes.count - size else { return nil }
        var number: UInt64 = 0
        for index in position..<position + size {
            number = number << 8 | UInt64(bytes[index])
        }
        return number < 1 << 40 ? Int(number) : nil
    }
}
