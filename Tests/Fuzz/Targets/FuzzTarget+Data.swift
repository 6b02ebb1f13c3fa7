// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import SyncPlan

extension FuzzTarget {
    /// `data:` URLs, with and without the scheme's five characters.
    static let data = FuzzTarget(name: "data", isText: true) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        try check(text)
        try check("data:" + text)
    }

    private static func check(_ text: String) throws {
        guard let url = DataURL(text) else { return }
        try hold(text.utf8.prefix(5).elementsEqual("data:".utf8, by: { $0 | 0x20 == $1 | 0x20 }), "\(text) is data")
        let shown = LogURL(text).description
        let type = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        try hold(shown.utf8.prefix { $0 != UInt8(ascii: ",") }.count <= type.count, "a log shows \(shown)")
        try hold(shown.count < 80, "a log shows \(shown)")
        guard let decoded = try? url.bytes() else { return }
        try hold(text.utf8.count <= DataURL.maxLength, "\(text.utf8.count) bytes are accepted")
        try hold(decoded.count <= text.utf8.count - 6, "\(text.utf8.count) bytes came to \(decoded.count)")
        let limit = ByteCount(64)
        if let image = try? url.image(upTo: limit, ImageInspector()) {
            try hold(image.bytes == decoded && decoded.count <= limit.bytes, "an image of \(image.bytes.count) bytes")
        }
        // What comes before the comma says how the rest is written, and nothing else.
        let content = text.utf8.drop { $0 != UInt8(ascii: ",") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        if !text.lowercased().contains("base64"), !content.contains(UInt8(ascii: "%")) {
            try hold(decoded.elementsEqual(content), "\(text) is read as \(decoded)")
        }
    }
}
