// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

enum Lines {
    /// The lines without line ends; the last line may lack its own.
    static func of(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        // Editors on Windows write CRLF.
        return lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    }
}

/// Strict Base64: padding required, nothing between the digits (RFC 4648, section 4).
enum Base64 {
    static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        guard !text.isEmpty, let data = Data(base64Encoded: Data(text)) else { return nil }
        // Unused bits must be zero, so that only one text decodes to these bytes.
        return data.base64EncodedData().elementsEqual(text) ? Array(data) : nil
    }

    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
