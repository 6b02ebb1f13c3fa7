// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A stored response in some 40 bytes and its URL; as a ``StoredResponse`` it takes 200.
///
/// There is one for each icon, and it is unpacked when the icon is refreshed. No byte of the fields is lost.
package struct PackedResponse: Equatable, Sendable {
    /// The URL that gave the response: ``StoredResponse/url``.
    package let url: String?
    /// The status, the time of the response in 8 bytes, the delay since the request; then each line.
    ///
    /// Numbers have 7 bits a byte, the lowest first; times are microseconds. A line is the field's number and its value: a
    /// ``PackedDate`` if ``dateMark`` is set, otherwise a length and a text.
    package let bytes: [UInt8]

    package init(_ response: StoredResponse) {
        self.init(
            status: response.status, url: response.url, response.fields.text.utf8Span.span,
            requestTime: response.requestTime, responseTime: response.responseTime)
    }

    /// Packs a response, given the text of its stored fields.
    package init(status: Int, url: String?, storedFields text: String, requestTime: Timestamp, responseTime: Timestamp)
    {
        if StoredResponse.areKept(text) {
            self.init(
                status: status, url: url, text.utf8Span.span, requestTime: requestTime, responseTime: responseTime)
        } else {
            self.init(
                StoredResponse(
                    status: status, url: url, storedFields: text, requestTime: requestTime, responseTime: responseTime))
        }
    }

    private init(status: Int, url: String?, _ text: Span<UInt8>, requestTime: Timestamp, responseTime: Timestamp) {
        self.url = url
        // A packed line takes fewer bytes than its text, and the other numbers take 28 at most.
        bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 28) { room in
            var packed = OutputBytes(room: room)
            packed.append(number: UInt64(status))
            packed.append(UInt64(bitPattern: responseTime.microseconds), bytes: Self.timeBytes)
            // If the clock was set between the two, the request may have the later time.
            let delay = responseTime.microseconds &- requestTime.microseconds
            packed.append(number: UInt64(bitPattern: delay << 1 ^ delay >> 63))
            var start = 0
            while start < text.count, let field = StoredResponse.field(at: start, in: text) {
                let end = HTTPFields.end(ofLine: start, in: text)
                start += StoredResponse.beginnings[field].utf8CodeUnitCount
                if let date = PackedDate(text.extracting(start..<end)) {
                    packed.append(UInt8(field) | Self.dateMark)
                    packed.append(date.bits, bytes: Self.dateBytes)
                } else {
                    packed.append(UInt8(field))
                    packed.append(number: UInt64(end - start))
                    for place in start..<end { packed.append(text[place]) }
                }
                start = end + 1
            }
            return Array(packed.bytes)
        }
    }

    /// Restores a response from its ``bytes``.
    package init(url: String?, bytes: [UInt8]) { (self.url, self.bytes) = (url, bytes) }

    /// Replaces the URL's text by an equal one that is already in memory.
    package func sharing(_ url: String) -> PackedResponse {
        self.url == url ? PackedResponse(url: url, bytes: bytes) : self
    }

    /// When the response was received.
    package var responseTime: Timestamp {
        var rest = bytes[...]
        _ = rest.popNumber()
        return Timestamp(microseconds: Int64(bitPattern: rest.pop(bytes: Self.timeBytes)))
    }

    /// The response as it was packed.
    package var unpacked: StoredResponse {
        var rest = bytes[...]
        let status = Int(rest.popNumber())
        let time = Int64(bitPattern: rest.pop(bytes: Self.timeBytes))
        let delay = rest.popNumber()
        var text: [UInt8] = []
        text.reserveCapacity(4 * bytes.count)
        var hasOwnLines = false
        while let mark = rest.popFirst() {
            hasOwnLines = hasOwnLines || Int(mark & ~Self.dateMark) >= StoredResponse.firstOwnLine
            StoredResponse.beginnings[Int(mark & ~Self.dateMark)].withUTF8Buffer { text += $0 }
            if mark & Self.dateMark != 0 {
                text += PackedDate(bits: rest.pop(bytes: Self.dateBytes)).text
            } else {
                let length = Int(rest.popNumber())
                text += rest.prefix(length)
                rest.removeFirst(length)
            }
            text.append(UInt8(ascii: "\n"))
        }
        return StoredResponse(
            status: status, url: url, fields: HTTPFields(checked: String(decoding: text, as: UTF8.self)),
            requestTime: Timestamp(microseconds: time &- (Int64(bitPattern: delay >> 1) ^ -Int64(delay & 1))),
            responseTime: Timestamp(microseconds: time), hasOwnLines: hasOwnLines)
    }

    private static let (timeBytes, dateBytes) = (8, 6)
    /// Added to the number of a field whose value is a ``PackedDate``.
    private static let dateMark: UInt8 = 0x80
}

/// Bytes that are written one after the other.
private struct OutputBytes {
    let room: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: room[..<count]) }

    mutating func append(_ byte: UInt8) {
        room[count] = byte
        count += 1
    }

    /// Appends the lowest bytes of a number, the lowest first.
    mutating func append(_ number: UInt64, bytes: Int) {
        for place in 0..<bytes { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func popNumber() -> UInt64 {
        var (number, shift) = (UInt64(0), 0)
        while let byte = popFirst() {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return number
    }

    fileprivate mutating func pop(bytes count: Int) -> UInt64 {
        defer { removeFirst(count) }
        return prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
