// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The stored metadata of the response that brought an image, from which its freshness can be computed at any time.
///
/// The five properties are the complete state: storing and restoring them gives an equal value.
package struct StoredResponse: Equatable, Sendable {
    package let status: Int
    /// The URL that gave the response, after all redirects and as it was sent; `nil` if unknown.
    ///
    /// For a copy, the URL of the source's folder.
    package let url: String?
    /// The fields that matter for freshness and conditional requests, as the server wrote them, then lines of ours.
    package let fields: HTTPFields
    package let requestTime: Timestamp
    package let responseTime: Timestamp
    /// Whether ``fields`` has lines of ours: they are looked for only then.
    let hasOwnLines: Bool
}

extension StoredResponse {
    /// Selects the fields to keep; `redirectLifetime` is kept in whole seconds, with `redirectCause` behind it.
    package init(
        status: Int = 200, url: String? = nil, fields: HTTPFields, requestTime: Timestamp, responseTime: Timestamp,
        redirectLifetime: Duration? = nil, redirectCause: String? = nil
    ) {
        var kept = Self.kept(of: fields).text
        if let redirectLifetime { kept += Self.line(redirectLifetime, redirectCause) }
        self.init(
            status: status, url: url, fields: HTTPFields(checked: kept), requestTime: requestTime,
            responseTime: responseTime, hasOwnLines: redirectLifetime != nil)
    }

    /// This response, which was just received by a clock that the wall clock is ahead of: its server's dates are
    /// compared with the wall clock's time.
    package func received(withWallClockAheadBy offset: Duration) -> StoredResponse {
        guard offset != .zero, ownLine(Self.clock) == nil else { return self }
        let seconds = offset.components.seconds
        return StoredResponse(
            status: status, url: url, fields: HTTPFields(checked: fields.text + "\(Self.clock): \(seconds)\n"),
            requestTime: requestTime, responseTime: responseTime, hasOwnLines: true)
    }

    /// Restores a stored response from the text of its fields.
    package init(
        status: Int, url: String?, storedFields text: String, requestTime: Timestamp, responseTime: Timestamp
    ) {
        let fields = Self.areKept(text) ? HTTPFields(checked: text) : Self.kept(of: HTTPFields(text: text))
        self.init(
            status: status, url: url, fields: fields, requestTime: requestTime, responseTime: responseTime,
            hasOwnLines: Self.fields(in: fields.text) >> Self.firstOwnLine != 0)
    }

    /// This response, updated with the fields of a later one about the same image (RFC 9111, section 3.2).
    ///
    /// `Date`, `Age`, the redirects and the clock are always those of the later response, even if missing there: they
    /// describe how the fields were sent, not the image.
    func updated(by update: StoredResponse) -> StoredResponse {
        let replaced = Self.fields(in: update.fields.text) | Self.times
        return StoredResponse(
            status: status, url: url, fields: Self.kept(of: fields, without: replaced, then: update.fields.text),
            requestTime: update.requestTime, responseTime: update.responseTime, hasOwnLines: update.hasOwnLines)
    }

    /// This response, which brought the same image as the last one did: the redirects to it hold for twice the time since
    /// then.
    ///
    /// They may lead to another URL each time, for which no request is conditional, so that images are downloaded again
    /// and again. The time is at most the longest one of a redirect that says nothing, and no shorter than the last.
    package func bringingNothing(
        after last: @autoclosure () -> StoredResponse?, under policy: RefreshPolicy
    ) -> StoredResponse {
        guard let own = redirectLifetime, let last = last(), url != last.url, last.redirectLifetime != nil else {
            return self
        }
        let before = last.redirectCause?.ends(withBytes: Self.again) == true ? last.redirectLifetime ?? .zero : .zero
        let lifetime = min(max(before, (responseTime - last.responseTime) * 2), policy.longestGuess)
        guard lifetime > own else { return self }
        let line = Self.line(lifetime, [redirectCause, Self.again].compactMap(\.self).joined(separator: "; "))
        return StoredResponse(
            status: status, url: url, fields: Self.kept(of: fields, without: Self.fields(in: line), then: line),
            requestTime: requestTime, responseTime: responseTime, hasOwnLines: true)
    }

    // MARK: - Field values

    package var cacheControl: CacheControl { fields.first("cache-control") { CacheControl($0) } ?? CacheControl("") }

    /// When the server generated the response, by its own clock; the time of receipt if it does not say (RFC 9110,
    /// section 6.6.1).
    package var date: Timestamp { time("date") ?? wallTime }

    /// The time of receipt by the wall clock, as far as it was known then.
    var wallTime: Timestamp {
        ownLine(Self.clock).flatMap { Int64($0) }.map { responseTime + .seconds($0) } ?? responseTime
    }

    private static let again = "the same image came again"

    private static func line(_ lifetime: Duration, _ cause: String?) -> String {
        "\(redirect): \(max(lifetime.components.seconds, 0))\(cause.map { " \($0)" } ?? "")\n"
    }

    private func ownLine(_ name: String) -> String? { hasOwnLines ? fields.first(name) : nil }

    /// The `Age` field: the time spent in other caches; zero if missing or malformed.
    ///
    /// In an invalid list of values, the first one counts (RFC 9111, section 5.1).
    package var age: Duration {
        let first = fields.first("age")?.split(atByte: ",", omittingEmpty: false).first
        return first.flatMap { DeltaSeconds.parse($0.trimmingWhitespace) } ?? .zero
    }

    /// How long the redirects that led to the response hold, from its receipt on; `nil` if none says so.
    ///
    /// After that, another response may be the image of the URL at which they began (RFC 9111, section 4).
    package var redirectLifetime: Duration? {
        ownLine(Self.redirect).flatMap { $0.split(atByte: " ", maxSplits: 1).first }.flatMap { DeltaSeconds.parse($0) }
    }

    /// What the redirect said that sets this lifetime, in words; `nil` if that is not known.
    package var redirectCause: String? {
        guard let parts = ownLine(Self.redirect)?.split(atByte: " ", maxSplits: 1), parts.count > 1 else { return nil }
        return parts[1]
    }

    package var lastModified: Timestamp? { time("last-modified") }

    package var entityTag: EntityTag? { fields.first("etag").flatMap(EntityTag.init) }

    /// The validators of the image (RFC 9110, section 8.8).
    ///
    /// A malformed `Last-Modified` is left out: the server would ignore it.
    package var validators: Validators {
        let modified = fields.first("last-modified")
        return Validators(etag: entityTag?.text, lastModified: lastModified == nil ? nil : modified)
    }

    /// Whether the response cannot be reused for any later request (`Vary: *`; RFC 9111, section 4.1).
    ///
    /// Any other `Vary` names fields that are equal in all requests for the URL.
    package var variesOnEverything: Bool {
        fields.first("vary")?.split(atByte: ",").contains { $0.trimmingWhitespace == "*" } ?? false
    }

    func time(_ name: String) -> Timestamp? {
        fields.first(name) { [responseTime] in HTTPDate.parse($0, now: responseTime) }
    }

    // MARK: - Kept fields

    /// The beginnings of the lines that are kept; only of `cache-control` and `vary`, several lines count.
    static let beginnings: [StaticString] =
        [
            "age: ", "date: ", "etag: ", "expires: ", "last-modified: ", "cache-control: ", "vary: ", ":redirect: ",
            ":clock: ",
        ]
    private static let lists = [5: "cache-control", 6: "vary"]
    /// The index of the first line of ours in ``beginnings``: no server can send a field of such a name, and earlier
    /// versions leave the lines out.
    static let firstOwnLine = 7
    /// The line with the lifetime of the redirects, in seconds, and what the redirect said that sets it.
    private static let redirect = ":redirect"
    /// The line with the seconds by which the wall clock was ahead.
    private static let clock = ":clock"

    /// A set of kept fields: a bit for each index in ``beginnings``.
    private typealias FieldSet = UInt

    /// The fields that say how a response was sent.
    private static let times = fields(in: "age: \ndate: \n:redirect: \n:clock: \n")

    /// The most bytes of a value, so that no server can fill the disk with fields.
    ///
    /// A longer value counts as malformed; a longer `Cache-Control` counts as `no-cache`.
    private static let longest = 1024

    /// The fields to keep, without `others`; `rest` are fields that were kept before, and follow.
    private static func kept(
        of fields: HTTPFields, without others: FieldSet = 0, then rest: String = ""
    ) -> HTTPFields {
        let bytes = fields.text.utf8Span.span
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count + rest.utf8.count)
        var seen = others
        var start = 0
        while start < bytes.count {
            let end = HTTPFields.end(ofLine: start, in: bytes)
            defer { start = end + 1 }
            guard let field = Self.field(at: start, in: bytes), seen & 1 << field == 0 else { continue }
            seen |= 1 << field
            beginnings[field].withUTF8Buffer { kept += $0 }
            if let name = lists[field] {
                kept += list(name, of: fields).utf8
            } else if case let value = start + beginnings[field].utf8CodeUnitCount, end - value <= longest {
                for place in value..<end { kept.append(bytes[place]) }
            }
            kept.append(UInt8(ascii: "\n"))
        }
        kept += rest.utf8
        return HTTPFields(checked: String(decoding: kept, as: UTF8.self))
    }

    private static func fields(in text: String) -> FieldSet {
        let bytes = text.utf8Span.span
        var fields: FieldSet = 0
        var start = 0
        while start < bytes.count {
            if let field = Self.field(at: start, in: bytes) { fields |= 1 << field }
            start = HTTPFields.end(ofLine: start, in: bytes) + 1
        }
        return fields
    }

    private static func list(_ name: String, of fields: HTTPFields) -> String {
        let value = fields.joined(name) ?? ""
        if value.utf8.count <= longest { return value.trimmingWhitespace }
        return name == "cache-control" ? "no-cache" : ""
    }

    /// The index of a line's field in ``beginnings``; `nil` if the field is not kept.
    static func field(at start: Int, in bytes: Span<UInt8>) -> Int? {
        for field in beginnings.indices {
            let (beginning, count) = (beginnings[field].utf8Start, beginnings[field].utf8CodeUnitCount)
            guard bytes.count - start >= count else { continue }
            var length = 0
            while length < count, beginning[length] == bytes[start + length] { length += 1 }
            if length == count { return field }
        }
        return nil
    }

    /// Whether a text is in the form that ``kept(of:)`` produces, so that it need not be parsed.
    static func areKept(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        var seen: FieldSet = 0
        var start = 0
        while start < bytes.count {
            guard let field = Self.field(at: start, in: bytes), seen & 1 << field == 0 else { return false }
            seen |= 1 << field
            let value = start + beginnings[field].utf8CodeUnitCount
            var end = value
            while end < bytes.count, bytes[end].isOfFieldValue { end += 1 }
            guard end < bytes.count, bytes[end] == UInt8(ascii: "\n"), end - value <= longest,
                end == value || !bytes[value].isBlank && !bytes[end - 1].isBlank
            else { return false }
            start = end + 1
        }
        return true
    }
}
