// SPDX-License-Identifier: Apache-2.0

/// A function of bytes that anybody may have written, with what has to hold whatever they are.
package struct FuzzTarget: Sendable {
    /// The name of its folder in the corpus.
    package let name: String
    /// Whether the bytes are text for the most part, so that changes to them are, too.
    package let isText: Bool
    /// Reads the bytes; throws a ``BrokenInvariant`` if something does not hold.
    package let run: @Sendable ([UInt8]) throws -> Void

    /// All of them, sorted by name.
    package static let all = [data, dates, documents, fields, images, lists, records, settings, signatures, toml, urls]
}

/// What does not hold.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package let description: String
}

/// Says what has to hold.
///
/// - Throws: A ``BrokenInvariant`` if it does not.
func hold(_ condition: Bool, _ claim: @autoclosure () -> String) throws(BrokenInvariant) {
    if !condition { throw BrokenInvariant(description: claim()) }
}

extension String {
    /// Whether two texts are the same bytes; `==` holds canonically equivalent ones for the same.
    func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension String? {
    func hasBytes(of other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.hasBytes(of: other)
        default: false
        }
    }
}
