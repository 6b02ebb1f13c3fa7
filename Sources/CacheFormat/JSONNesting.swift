// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

extension JSONDecoder {
    /// The most levels of arrays and objects that any reader of the cache accepts.
    private static let deepest = 512

    /// Decodes a document that anybody may have written.
    ///
    /// Foundation's decoder can end the process if a document has too many levels, so such a document is refused
    /// before.
    ///
    /// - Throws: `DecodingError`, also if the document has more than 512 levels.
    package func decode<T: Decodable>(_ type: T.Type, untrusted data: Data) throws -> T {
        var (depth, isText, isEscaped) = (0, false, false)
        for byte in data {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isText
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            guard depth <= Self.deepest else {
                let message = "it has more than \(Self.deepest) levels"
                throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: message))
            }
        }
        return try decode(type, from: data)
    }
}
