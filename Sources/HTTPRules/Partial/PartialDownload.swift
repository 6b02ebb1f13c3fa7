// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The first bytes of a download that was cut off, and how to request the rest (RFC 9110, section 14).
package struct PartialDownload: Equatable, Sendable {
    /// The URL as the list spells it.
    package let url: IconURL
    /// The URL that gave the bytes, after all redirects; the rest is requested only there.
    package let target: String
    package let response: StoredResponse
    /// The size of the whole image, in bytes; `nil` if the server did not say.
    package var length: Int?
    /// The number of bytes on disk.
    package var bytes = 0

    private let validator: String

    /// Whether the missing bytes may be requested from a URL: only from the URL that gave the first bytes.
    package func canGoOn(at target: FetchTarget) -> Bool { target.isSent(as: self.target) }

    /// Makes a record from the response that brings the first bytes.
    ///
    /// `nil` if the response is not the whole image (200), if it has no strong validator or several tags, or if the
    /// server serves no ranges.
    package init?(of url: IconURL, from target: FetchTarget, response: StoredResponse, fields: HTTPFields) {
        guard response.status == 200, fields["etag"].count <= 1, Self.allowsRanges(fields) else { return nil }
        self.init(
            url: url, target: target.url, response: response, length: fields.first("content-length").flatMap { Int($0) }
        )
    }

    init?(url: IconURL, target: String, response: StoredResponse, length: Int?) {
        guard let validator = response.strongValidator else { return nil }
        self.url = url
        self.target = target
        self.response = response
        self.length = length
        self.validator = validator
    }

    /// Whether the server serves ranges; assumed if it does not say, since such a server may just send the whole image.
    private static func allowsRanges(_ fields: HTTPFields) -> Bool {
        // The value that nearly all servers send needs no parsing.
        guard fields.first("accept-ranges") != "bytes", let units = fields.joined("accept-ranges") else { return true }
        return units.split(atByte: ",").contains { $0.trimmingWhitespace.asciiLowercased == "bytes" }
    }

    /// The fields of a request for the rest, or for the whole image if it has changed.
    package var requestFields: [(name: String, value: String)] {
        [("Range", "bytes=\(bytes)-"), ("If-Range", validator)]
    }

    /// Combines this part with the 206 response that brings the rest, or a large enough piece of it.
    ///
    /// A server may send less than was requested (RFC 9110, section 15.3.7), and leave out the length of the whole,
    /// which counts only if the first response had it: else nothing tells where the image ends.
    ///
    /// - Returns: Where its bytes end, the length of the whole image, and the response as if all of it had come at once
    ///   (RFC 9111, section 3.4). `nil` if the response does not begin with the first missing byte, is too short to be
    ///   worth a request, or does not prove that it is about the same image.
    package func extended(
        by rest: StoredResponse, fields: HTTPFields
    ) -> (end: Int, length: Int, response: StoredResponse)? {
        let ranges = fields["content-range"]
        guard ranges.count == 1, let range = ContentRange(ranges[0]), range.first == bytes,
            let length = range.length ?? length, range.last < length, length == self.length ?? length,
            response.isOfSameImage(as: fields)
        else { return nil }
        let end = range.last + 1
        guard end == length || end - bytes >= Self.leastProgress.bytes else { return nil }
        return (end, length, response.updated(by: rest))
    }
}
