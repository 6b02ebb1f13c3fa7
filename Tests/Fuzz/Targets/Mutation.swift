// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// Inputs made of others, the same ones in each run.
package struct Mutation {
    private var generator: SeededGenerator
    private let seeds: [[UInt8]]
    private let isText: Bool

    /// What changes more than a byte would.
    private static let words: [[UInt8]] = [
        "", "\0", "\n", "%00", "%", "@", ":", "//", "\\", "#", "\"", "-", "+", "0", "65536", "9223372036854775808",
        "-9223372036854775808", "\u{301}", "\u{FEFF}", "\u{202E}", "é", "１", "[", "]", "<", "&", "{", "null",
    ].map { Array($0.utf8) }

    /// - Parameters:
    ///   - seeds: What is changed; at least one.
    ///   - isText: Whether a change is most often one of text.
    ///   - seed: Determines all that follows.
    package init(of seeds: [[UInt8]], isText: Bool, seed: UInt64) {
        precondition(!seeds.isEmpty, "there is something to change")
        self.seeds = seeds
        self.isText = isText
        generator = SeededGenerator(seed: seed)
    }

    package mutating func next() -> [UInt8] {
        var bytes = seeds[number(below: seeds.count)]
        for _ in 0...number(below: 4) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = number(below: bytes.count + 1)
        let length = number(below: min(bytes.count - place, 16) + 1)
        switch number(below: 8) {
        case 0: bytes.removeSubrange(place..<place + length)
        case 1: bytes.insert(contentsOf: bytes[place..<place + length], at: number(below: bytes.count + 1))
        case 2:
            let other = seeds[number(below: seeds.count)]
            bytes.replaceSubrange(place..., with: other[number(below: other.count + 1)...])
        case 3, 4: bytes.replaceSubrange(place..<place + length, with: Self.words[number(below: Self.words.count)])
        case _ where place == bytes.count: break
        case 5: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 6: bytes[place] = [0, 1, 0x20, 0x7F, 0x80, 0xFF][number(below: 6)]
        default: bytes[place] = UInt8(number(below: isText ? 0x80 : 0x100))
        }
    }

    private mutating func number(below limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }
}
