// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What is remembered of the response that brought an image, so that its freshness can be computed at any later time.
///
/// Its five properties are all there is to store. Making it again from them gives the same value.
package struct StoredResponse: Equatable, Sendable {
    /// The status; the response that brought an image has 200.
    package let status: Int
    /// The URL that gave the response, after all redirects and as it was sent; `nil` if that is not known.
    ///
    /// Of an image from an upstream it is that of the upstream's folder.
    package let url: String?
    /// The fields that freshness and conditional requests depend on, in the server's own text.
    package let fields: HTTPFields
    /// When the request was sent that the fields are the answer to.
    package let requestTime: Timestamp
    /// When the answer was received.
    package let responseTime: Timestamp

    /// Keeps what matters of a response.
    package init(
        status: Int = 200, url: String? = nil, fields: HTTPFields, requestTime: Timestamp, responseTime: Timestamp
    ) {
        self.status = status
        self.url = url
        self.fields = Self.kept(of: fields)
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// A response that was stored, from the text of its fields.
    package init(
        status: Int, url: String?, storedFields text: String, requestTime: Timestamp, responseTime: Timestamp
    ) {
        self.status = status
        self.url = url
        fields = Self.areKept(text) ? HTTPFields(checked: text) : Self.kept(of: HTTPFields(text: text))
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    private init(_ other: StoredResponse, url: String) {
        status = other.status
        self.url = url
        fields = other.fields
        requestTime = other.requestTime
        responseTime = other.responseTime
    }

    /// The response with the text of an equal URL that is in memory anyway.
    package func sharing(_ url: String) -> StoredResponse {
        self.url == url ? StoredResponse(self, url: url) : self
    }

    // MARK: - What the fields say

    package var cacheControl: CacheControl { CacheControl(fields.joined("cache-control") ?? "") }

    /// When the server made the response, by its own clock; when it was received if the server does not say
    /// (RFC 9110, section 6.6.1).
    package var date: Timestamp { time("date") ?? responseTime }

    /// How long the response was under way in other caches; zero if none says so, or not in whole seconds.
    ///
    /// Of a list, which it should not be, the first member counts (RFC 9111, section 5.1).
    package var age: Duration {
        let first = fields.first("age")?.split(atByte: ",", omittingEmpty: false).first
        return first.flatMap { DeltaSeconds.parse($0.trimmingWhitespace) } ?? .zero
    }

    package var lastModified: Timestamp? { time("last-modified") }

    package var entityTag: EntityTag? { fields.first("etag").flatMap(EntityTag.init) }

    /// What makes the next request for the same URL conditional; `nil` if nothing does, or the URL is not known.
    package var condition: Condition? {
        guard let url, !validators.isEmpty else { return nil }
        return Condition(url: url, validators: validators)
    }

    /// The validators of the image (RFC 9110, section 8.8).
    ///
    /// A `Last-Modified` that is no date would be ignored by the server, and is left out.
    package var validators: Validators {
        Validators(etag: entityTag?.text, lastModified: lastModified == nil ? nil : fields.first("last-modified"))
    }

    /// Whether no later request is sure to be answered the same (`Vary: *`; RFC 9111, section 4.1).
    ///
    /// Any other `Vary` names fields that are the same in all requests for the URL.
    package var variesOnEverything: Bool {
        fields["vary"].contains { $0.split(atByte: ",").contains { $0.trimmingWhitespace == "*" } }
    }

    func time(_ name: String) -> Timestamp? {
        fields.first(name).flatMap { HTTPDate.parse($0, now: responseTime) }
    }

    // MARK: - What is kept

    /// Of these fields the first line counts; the others are lists.
    private static let single = ["age", "date", "etag", "expires", "last-modified"]
    private static let lists = ["cache-control", "vary"]
    /// What their lines begin with.
    private static let beginnings = (single + lists).map { Array("\($0): ".utf8) }

    /// The most bytes of a value, so that no server can fill the disk with fields.
    ///
    /// What is longer counts as malformed, and a `Cache-Control` of which that much is unread as `no-cache`.
    private static let longest = 1024

    private static func kept(of fields: HTTPFields) -> HTTPFields {
        let bytes = fields.text.utf8Span.span
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var seen: UInt = 0
        var start = 0
        while start < bytes.count {
            let field = Self.field(at: start, in: bytes)
            var end = start
            while bytes[end] != UInt8(ascii: "\n") { end += 1 }
            defer { start = end + 1 }
            guard let field, seen & 1 << field == 0 else { continue }
            seen |= 1 << field
            kept += beginnings[field]
            if field >= single.count {
                kept += list(lists[field - single.count], of: fields).utf8
            } else if case let value = start + beginnings[field].count, end - value <= longest {
                for place in value..<end { kept.append(bytes[place]) }
            }
            kept.append(UInt8(ascii: "\n"))
        }
        return HTTPFields(checked: String(decoding: kept, as: UTF8.self))
    }

    private static func list(_ name: String, of fields: HTTPFields) -> String {
        let value = fields.joined(name) ?? ""
        if value.utf8.count <= longest { return value.trimmingWhitespace }
        return name == "cache-control" ? CacheControl.Flag.noCache.rawValue : ""
    }

    /// Which field a line is, by its place in ``beginnings``; `nil` if it is not kept.
    private static func field(at start: Int, in bytes: Span<UInt8>) -> Int? {
        beginnings.indices.first { field in
            let beginning = beginnings[field]
            return bytes.count - start >= beginning.count
                && beginning.indices.allSatisfy { beginning[$0] == bytes[start + $0] }
        }
    }

    /// Whether a text is what ``kept(of:)`` makes of fields, so that nothing need be taken apart.
    private static func areKept(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var seen: UInt = 0
        var start = 0
        while start < bytes.count {
            guard let field = Self.field(at: start, in: bytes), seen & 1 << field == 0 else { return false }
            seen |= 1 << field
            let value = start + beginnings[field].count
            var end = value
            while end < bytes.count, bytes[end] >= 0x20 && bytes[end] != 0x7F || bytes[end] == UInt8(ascii: "\t") {
                end += 1
            }
            guard end < bytes.count, bytes[end] == UInt8(ascii: "\n"), end - value <= longest,
                end == value || !isBlank(bytes[value]) && !isBlank(bytes[end - 1])
            else { return false }
            start = end + 1
        }
        return true
    }
}
