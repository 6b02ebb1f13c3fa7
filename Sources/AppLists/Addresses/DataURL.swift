// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials

/// A URL that contains its image (RFC 2397): `data:image/png;base64,iVBORw0…`.
///
/// The media type is ignored, as a server's is: the first bytes of the image determine its type.
package struct DataURL: Hashable, Sendable {
    /// The longest URL accepted, in UTF-8 bytes.
    ///
    /// Each list document contains the whole URL, and it must fit into one command argument, for which Linux allows
    /// twice as much (`execve(2)`). A list's texts are limited to 64 MiB in any case.
    package static let maxLength = 64 << 10

    private let text: String

    package init?(_ text: String) {
        let isData = text.utf8.starts(with: "data:".utf8) { $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1 }
        guard isData else { return nil }
        self.text = text
    }

    /// Removes white space that is no part of the data: line ends and tabs; spaces after the comma; and in base64, all.
    static func withoutWhiteSpace(_ text: String) -> String {
        let bytes = text.utf8.filter { $0 == 0x20 || !$0.isWhiteSpace }
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return String(decoding: bytes, as: UTF8.self) }
        let type = Substring(String(decoding: bytes[..<comma], as: UTF8.self))
        let isBase64 = type.asciiLowercased.ends(withBytes: ";base64")
        let data = bytes[(comma + 1)...]
        let kept = isBase64 ? data.filter { $0 != 0x20 } : Array(data.drop { $0 == 0x20 })
        return String(decoding: bytes[...comma] + kept, as: UTF8.self)
    }

    /// Decodes the data.
    ///
    /// As in browsers (Fetch Standard, “data: URLs”), it begins after the first comma and ends at a fragment; base64
    /// may contain white space and lack padding.
    package func bytes() throws(URLRefusal) -> [UInt8] {
        guard text.utf8.count <= Self.maxLength else {
            throw .malformedData("it is longer than \(Self.maxLength) bytes")
        }
        // Search bytes: with a combining mark after it, the comma is another Character.
        let whole = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let comma = whole.firstIndex(of: UInt8(ascii: ",")) else {
            throw .malformedData("no comma follows its media type")
        }
        guard let bytes = PercentEncoding.decode(whole[comma...].dropFirst()) else {
            throw .malformedData("“%” is not followed by two hexadecimal digits")
        }
        guard Substring(whole[..<comma]).asciiLowercased.ends(withBytes: ";base64") else { return bytes }
        guard let decoded = Self.base64(bytes) else { throw .malformedData("its data is not base64") }
        return decoded
    }

    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        var digits = text.filter { ![0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }
        let padding = UInt8(ascii: "=")
        if digits.count.isMultiple(of: 4) {
            for _ in 0..<2 where digits.last == padding { digits.removeLast() }
        }
        guard !digits.contains(padding), digits.count % 4 != 1 else { return nil }
        digits += Array(repeating: padding, count: -digits.count & 3)
        return Data(base64Encoded: Data(digits)).map { Array($0) }
    }
}

extension DataURL: CustomStringConvertible {
    /// The media type and the length: `data:image/png;base64,… (4211 bytes)`.
    package var description: String {
        let end = text.utf8.firstIndex(of: UInt8(ascii: ",")) ?? text.endIndex
        return "\(text[..<end].prefix(bytes: 40)),… (\(text.utf8.count) bytes)"
    }
}
