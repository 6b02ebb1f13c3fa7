// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// What servers said of the images of icons, by the places of the icons in their table.
///
/// The bytes of a response follow its URL: ``own`` if that is the icon's, as of most, otherwise ``none`` or ``other``, then
/// the length in 4 bytes, the lowest first, and the text.
struct IconResponses: Sendable {
    private var rows = RowBytes()

    private static let (none, own, other): (UInt8, UInt8, UInt8) = (0, 1, 2)

    /// Whether there is a response.
    func hasResponse(at place: Int) -> Bool { !rows[place].isEmpty }

    func response(at place: Int, of icon: IconURL) -> PackedResponse? {
        var rest = rows[place]
        return rest.isEmpty ? nil : PackedResponse(url: Self.popURL(from: &rest, of: icon), bytes: Array(rest))
    }

    /// The URL of the response; `nil` if it is unknown, or there is no response.
    func url(at place: Int, of icon: IconURL) -> String? {
        var rest = rows[place]
        return rest.isEmpty ? nil : Self.popURL(from: &rest, of: icon)
    }

    private static func popURL(from bytes: inout ArraySlice<UInt8>, of icon: IconURL) -> String? {
        switch bytes.removeFirst() {
        case none: return nil
        case own: return icon.text
        default:
            let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            defer { bytes = bytes.dropFirst(4 + length) }
            return String(decoding: bytes.dropFirst(4).prefix(length), as: UTF8.self)
        }
    }

    mutating func set(_ response: PackedResponse?, at place: Int, of icon: IconURL) {
        guard let response else { return rows.remove(at: place) }
        rows.write(at: place) { bytes in
            if let url = response.url, !url.utf8.elementsEqual(icon.text.utf8) {
                bytes.append(Self.other)
                let length = UInt32(url.utf8.count)
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
                bytes += url.utf8
            } else {
                bytes.append(response.url == nil ? Self.none : Self.own)
            }
            bytes += response.bytes
        }
    }
}
