// SPDX-License-Identifier: Apache-2.0

/// Binary property lists made by hand, so that they can be wrong.
package enum BinaryList {
    /// A file of these objects, with the first one at the top.
    package static func bytes(of objects: [[UInt8]], referenceSize: Int = 1) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += bigEndian(bytes.count, 4)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 4, UInt8(referenceSize)]
        return bytes + bigEndian(objects.count, 8) + bigEndian(0, 8) + bigEndian(table, 8)
    }

    /// That many arrays, each within the one before.
    package static func nested(_ levels: Int) -> [UInt8] {
        bytes(of: (1..<levels).map { [0xA1] + bigEndian($0, 4) } + [[0xA0]], referenceSize: 4)
    }

    /// Arrays that each have the next one in them twice: a tree of 2^levels leaves in few bytes.
    package static func doubling(levels: Int) -> [UInt8] {
        bytes(of: (1...levels).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x51, 0x61]])
    }

    /// An array of that many others, each with the same references as all that come after it, and one more.
    ///
    /// Each of their references is the mark of an array, so that the array of the one after it begins there.
    package static func overlapping(_ count: Int) -> [UInt8] {
        // An array is its mark, its count as an integer of four bytes, and its references, of six bytes each. Each
        // reference is at the same time the head of an array: what they refer to is beyond the last object.
        var bytes = Array("bplist00".utf8)
        let top = bytes.count
        bytes += [0xAF, 0x12] + bigEndian(count, 4)
        for index in 1...count { bytes += bigEndian(index, 6) }
        let heads = bytes.count
        for index in 0..<count { bytes += [0xAF, 0x12] + bigEndian(count - 1 - index, 4) }
        let table = bytes.count
        bytes += bigEndian(top, 4) + (0..<count).flatMap { bigEndian(heads + 6 * $0, 4) }
        return bytes + [0, 0, 0, 0, 0, 0, 4, 6] + bigEndian(count + 1, 8) + bigEndian(0, 8) + bigEndian(table, 8)
    }

    /// An array of this many references to the second object, each of two bytes.
    package static func array(repeating count: Int) -> [UInt8] {
        [0xAF, 0x12] + bigEndian(count, 4) + (0..<count).flatMap { _ in [0, 1] as [UInt8] }
    }

    /// The mark of an object of 2^63 members or bytes.
    package static func endless(_ kind: UInt8) -> [UInt8] {
        [kind | 0xF, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]
    }

    package static func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
