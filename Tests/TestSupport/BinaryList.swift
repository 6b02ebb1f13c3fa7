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

    /// Arrays that each have the next one in them twice: a tree of 2^levels leaves.
    package static func doubling(levels: Int) -> [UInt8] {
        bytes(of: (1...levels).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x51, 0x61]])
    }

    /// An array of this many references to the second object, each of two bytes.
    package static func array(repeating count: Int) -> [UInt8] {
        [0xAF, 0x12] + bigEndian(count, 4) + (0..<count).flatMap { _ in [0, 1] as [UInt8] }
    }

    /// The mark of an object of a hundred members or bytes.
    package static func hundred(_ kind: UInt8) -> [UInt8] { [kind | 0xF, 0x10, 100] }

    /// A file of an empty array, with these numbers at its end.
    package static func emptyArray(objects: Int = 1, top: Int = 0, table: Int = 9) -> [UInt8] {
        Array("bplist00".utf8) + [0xA0, 8, 0, 0, 0, 0, 0, 0, 1, 1] + bigEndian(objects, 8) + bigEndian(top, 8)
            + bigEndian(table, 8)
    }

    package static func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
