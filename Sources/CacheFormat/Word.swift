// SPDX-License-Identifier: Apache-2.0

/// A word of an enumeration, or an unknown one, which a later version of the agent may send.
package struct Word<Known: RawRepresentable<String> & Sendable>: Hashable, Sendable, Codable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    package let text: String

    package init(_ known: Known) { text = known.rawValue }
    package init(stringLiteral text: String) { self.text = text }
    package init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// The word as a value of the enumeration; `nil` if this version does not know it.
    package var known: Known? { Known(rawValue: text) }
    package var description: String { text }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

package func == <Known>(word: Word<Known>?, known: Known) -> Bool { word?.text == known.rawValue }
package func != <Known>(word: Word<Known>?, known: Known) -> Bool { word?.text != known.rawValue }
