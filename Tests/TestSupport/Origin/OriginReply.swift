// SPDX-License-Identifier: Apache-2.0
package import DemoOrigin

/// A response of the origin, sent as it is.
///
/// `Content-Length` is added if it is missing, and `Date` always.
package struct OriginReply: Sendable {
    /// From 200 to 599.
    package var status: Int

    /// The names and values of the header fields, in the order sent.
    package var headers: [(name: String, value: String)]

    package var body: [UInt8]

    package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        precondition((200...599).contains(status), "a final status has a code from 200 to 599")
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A drawn icon as a PNG, with an entity tag and a modification date.
    package static func icon(_ icon: IconDrawing) -> OriginReply {
        OriginReply(
            headers: [
                ("Content-Type", "image/png"),
                ("ETag", icon.entityTag),
                ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ],
            body: icon.png())
    }

    /// This response, or a `304` if the request's conditions match it.
    ///
    /// Only a `200` becomes a `304`. `If-None-Match` takes precedence over `If-Modified-Since`, which must equal
    /// `Last-Modified`.
    package func revalidated(for request: OriginRequest) -> OriginReply {
        guard status == 200, isKnown(to: request) else { return self }
        let kept = ["etag", "last-modified", "cache-control", "expires", "vary", "content-location"]
        return OriginReply(status: 304, headers: headers.filter { kept.contains($0.name.lowercased()) })
    }

    private func isKnown(to request: OriginRequest) -> Bool {
        guard let known = request.headers["if-none-match"] else {
            guard let date = value(of: "last-modified") else { return false }
            return request.headers["if-modified-since"] == date
        }
        guard let tag = value(of: "etag") else { return false }
        return known.split(separator: ",").map { $0.drop { $0 == " " } }.contains { candidate in
            candidate == "*" || Self.opaque(candidate) == Self.opaque(tag[...])
        }
    }

    private func value(of name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }

    /// The tag without the weakness prefix, for the weak comparison.
    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}
