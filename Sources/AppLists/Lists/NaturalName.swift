// SPDX-License-Identifier: Apache-2.0

/// A name as people sort it: numbers in it count as numbers, and capital letters as small ones (ASCII).
///
/// `App 2` is before `App 10`. Names that differ in nothing else are in the order of their bytes.
package struct NaturalName: Comparable {
    private let text: String

    package init(_ text: String) { self.text = text }

    package static func < (one: NaturalName, other: NaturalName) -> Bool {
        var (rest, others) = (one.text.utf8[...], other.text.utf8[...])
        while let byte = rest.first, let second = others.first {
            if byte.isDigit, second.isDigit {
                let (number, otherNumber) = (removeLeadingNumber(&rest), removeLeadingNumber(&others))
                guard number.elementsEqual(otherNumber) else {
                    return number.count != otherNumber.count
                        ? number.count < otherNumber.count : number.lexicographicallyPrecedes(otherNumber)
                }
            } else {
                let (letter, otherLetter) = (lowercased(byte), lowercased(second))
                guard letter == otherLetter else { return letter < otherLetter }
                rest.removeFirst()
                others.removeFirst()
            }
        }
        guard rest.isEmpty, others.isEmpty else { return rest.isEmpty }
        return one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Removes the digits at the beginning, and returns them without their leading zeros.
    private static func removeLeadingNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: \.isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
