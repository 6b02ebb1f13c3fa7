// SPDX-License-Identifier: Apache-2.0
import HTTPRules

/// What servers said of the images of icons, by the places of the icons in their table, which has the `texts` of their URLs.
///
/// The bytes of a response follow its URL: ``own`` if that is the icon's, as of most, otherwise ``none`` or ``other``, then
/// the length in 4 bytes, the lowest first, and the text.
struct IconResponses: Sendable {
    private var rows = RowBytes()

    /// The number of bytes of all responses.
    var used: Int { rows.used }

    private static let (none, own, other): (UInt8, UInt8, UInt8) = (0, 1, 2)

    /// Whether there is a response.
    func hasResponse(at place: Int) -> Bool { !rows[place].isEmpty }

    func response(at place: Int, of texts: RowBytes) -> PackedResponse? {
        var rest = rows[place]
        return rest.isEmpty ? nil : PackedResponse(url: popURL(from: &rest, at: place, of: texts), bytes: Array(rest))
    }

    /// The URL of the response; `nil` if it is unknown, or there is no response.
    func url(at place: Int, of texts: RowBytes) -> String? {
        var rest = rows[place]
        return rest.isEmpty ? nil : popURL(from: &rest, at: place, of: texts)
    }

    private func popURL(from bytes: inout ArraySlice<UInt8>, at place: Int, of texts: RowBytes) -> String? {
        switch bytes.removeFirst() {
        case Self.none: return nil
        case Self.own: return texts.text(at: place)
        default:
            let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            defer { bytes = bytes.dropFirst(4 + length) }
            return String(decoding: bytes.dropFirst(4).prefix(length), as: UTF8.self)
        }
    }

    mutating func set(_ response: PackedResponse?, at place: Int, of texts: RowBytes) {
        guard let response else { return rows.remove(at: place) }
        rows.write(at: place) { bytes in
            if let url = response.url, !texts.has(url, at: place) {
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
