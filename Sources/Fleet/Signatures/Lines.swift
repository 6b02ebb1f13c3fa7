// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The lines of a key or signature file.
enum Lines {
    /// The lines, without their ends; the last one may lack its end.
    static func of(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        // As an editor for Windows saves them.
        return lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    }
}

/// Base64 with padding, and with nothing else among its digits (RFC 4648, section 4).
enum Base64 {
    /// The bytes; `nil` if the text is anything else.
    static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        guard !text.isEmpty, let data = Data(base64Encoded: Data(text)) else { return nil }
        // Some texts have unused bits: only one text has these bytes.
        return data.base64EncodedData().elementsEqual(text) ? Array(data) : nil
    }

    /// The text.
    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
