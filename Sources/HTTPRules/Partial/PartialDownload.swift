// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The first bytes of an image whose download was cut, and what it takes to ask for the rest (RFC 9110, section 14).
package struct PartialDownload: Equatable, Sendable {
    /// The URL as the list spells it.
    package let url: IconURL
    /// Where the bytes came from, after all redirects: the rest is asked for there and nowhere else.
    package let target: String
    /// What the server said of the image.
    package let response: StoredResponse
    /// How many bytes the whole image has; `nil` if the server did not say.
    package let length: Int?
    /// How many of them are on disk.
    package var bytes = 0

    private let validator: String

    /// Whether the rest may be asked for there: only at the URL that gave the first bytes.
    package func canGoOn(at target: FetchTarget) -> Bool { target.isSent(as: self.target) }

    /// What may be kept of an image of which the first bytes have come.
    ///
    /// `nil` if the answer is not the whole image (200), if nothing would prove the rest to be of the same image, or if
    /// the server gives no parts.
    package init?(of url: IconURL, from target: FetchTarget, response: StoredResponse, fields: HTTPFields) {
        guard response.status == 200, Self.allowsRanges(fields) else { return nil }
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

    /// A server that says nothing of ranges may have them: one that has none sends the whole image.
    private static func allowsRanges(_ fields: HTTPFields) -> Bool {
        // The one that nearly all send needs no reading.
        guard fields.first("accept-ranges") != "bytes", let units = fields.joined("accept-ranges") else { return true }
        return units.split(atByte: ",").contains { $0.trimmingWhitespace.asciiLowercased == "bytes" }
    }

    /// What a request has that asks for the rest, or for the whole image if it has changed.
    package var requestFields: [(name: String, value: String)] {
        [("Range", "bytes=\(bytes)-"), ("If-Range", validator)]
    }

    /// What the answer to that request makes whole, if its status is 206.
    ///
    /// - Returns: The length of the whole image, and the response as if all of it had come at once (RFC 9111, section
    ///   3.4). `nil` if the answer does not bring just the bytes that are missing, or those of another image.
    package func completed(
        by rest: StoredResponse, fields: HTTPFields
    ) -> (length: Int, response: StoredResponse)? {
        let ranges = fields["content-range"]
        guard ranges.count == 1, let range = ContentRange(ranges[0]), range.first == bytes,
            range.last == range.length - 1, length == nil || length == range.length, response.isOfSameImage(as: rest)
        else { return nil }
        return (range.length, response.updated(by: rest))
    }
}
