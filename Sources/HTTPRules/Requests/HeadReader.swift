// SPDX-License-Identifier: Apache-2.0
import CacheFormat

package struct ResponseHead: Sendable {
    package var status: Int
    /// Whether it came over a multiplexed connection (HTTP/2).
    package var isMultiplexed: Bool
    package var fields: HTTPFields

    package init(status: Int, isMultiplexed: Bool = false, fields: HTTPFields) {
        self.status = status
        self.isMultiplexed = isMultiplexed
        self.fields = fields
    }
}

extension ResponseHead {
    /// Whether the body is the whole content of the URL; with 203, a proxy changed the response on its way (RFC 9110,
    /// section 15.3.4), and the content is judged like any other.
    package var isWhole: Bool { status == 200 || status == 203 }

    /// The content codings that change a body (RFC 9110, section 8.4.1, and the registry of IANA).
    ///
    /// Other words encode nothing: stores repeat what was said at an upload, such as `aws-chunked` or `UTF-8`.
    private static let codings = [
        "br", "compress", "dcb", "dcz", "deflate", "gzip", "x-compress", "x-gzip", "zstd",
    ]

    /// The body length, if the head has it.
    ///
    /// - Throws: A ``FetchFailure`` with the code `content-encoding` if the body is encoded, which no request allows.
    package func bodyLength() throws(FetchFailure) -> Int? {
        if let coding = fields["content-encoding"].first(where: Self.isEncoded) { throw .encoded(coding) }
        return fields.first("content-length").flatMap { Int($0) }
    }

    private static func isEncoded(_ value: String) -> Bool {
        value.split(atByte: ",").contains { codings.contains($0.trimmingWhitespace.asciiLowercased) }
    }

    /// Whether a body that libcurl calls complete is complete: because of its length, or its last chunk.
    ///
    /// Without either, one over HTTP/1 ends with the connection, and one that was cut off looks complete (RFC 9112,
    /// section 8). Over HTTP/2, libcurl does not tell the end of a stream from a reset without error (RFC 9113, section
    /// 8.1), and proxies send one within a body when they lose the server behind them.
    package var isDelimited: Bool {
        fields.first("content-length") != nil || !isMultiplexed && fields.first("transfer-encoding") != nil
    }
}

/// Parses the lines before a body into the head of the final response (RFC 9112, sections 4 and 5).
///
/// Interim responses are skipped. Trailers are checked and skipped.
package struct HeadReader: Sendable {
    /// The most bytes of all heads and trailers of a response.
    package static let limit = 128 << 10
    /// The most lines of all heads and trailers of a response.
    private static let lineLimit = 512
    private static let interimLimit = 32

    /// The fields that the agent goes by, and those by which libcurl finds the end of a body: they must be well-formed.
    private static let essentialNames = [
        "accept-ranges", "age", "cache-control", "connection", "content-encoding", "content-length", "content-range",
        "date", "etag", "expires", "last-modified", "location", "retry-after", "transfer-encoding", "vary",
    ]

    private typealias Line = ArraySlice<UInt8>

    private enum State {
        case beginning
        case inHead
        /// The final head has ended: trailers follow.
        case over
    }

    private var state = State.beginning
    private var status = 0
    private var isMultiplexed = false
    private var interimCount = 0
    private var count = 0
    private var lineCount = 0
    /// The fields so far, in the form of ``HTTPFields/text``.
    private var fields: [UInt8] = []
    /// The last line of a field, with the lines that go on with it; empty if there is none.
    private var field: [UInt8] = []
    /// Whether several lines make up that field.
    private var isFolded = false

    package init() {}

    /// Reads a line, including its line break.
    ///
    /// - Returns: The head, if this line ends that of the final response.
    /// - Throws: A ``FetchFailure`` with the code `protocol`.
    package mutating func read(_ line: UnsafeRawBufferPointer) throws(FetchFailure) -> ResponseHead? {
        count += line.count
        lineCount += 1
        guard count <= Self.limit, lineCount <= Self.lineLimit else {
            throw .protocolViolation("its head is longer than \(Self.limit) bytes, or \(Self.lineLimit) lines")
        }
        var rest = line[...]
        if rest.last == 0x0A { rest.removeLast() }
        if rest.last == 0x0D { rest.removeLast() }
        // libcurl takes a line that begins with it for the end of the head.
        guard rest.first != 0x0D else { throw .protocolViolation("a line that begins with a carriage return") }
        switch state {
        case .beginning:
            try readStatus(Array(rest)[...])
            state = .inHead
        case .inHead where rest.first?.isBlank == true:
            guard !field.isEmpty else { throw .protocolViolation("a folded line before the first field") }
            field.append(0x20)
            field += rest.drop(while: \.isBlank)
            isFolded = true
        case .inHead:
            try endField()
            if rest.isEmpty { return try endHead() }
            field += rest
        case .over: if rest.first?.isBlank == false { _ = try Self.nameAndValue(Array(rest)[...]) }
        }
        return nil
    }

    private mutating func readStatus(_ line: Line) throws(FetchFailure) {
        let version = line.prefix { $0 != 0x20 }
        let digits = line.dropFirst(version.count + 1).prefix { $0 != 0x20 }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .protocolViolation("its status line")
        }
        isMultiplexed = version.elementsEqual("HTTP/2".utf8)
        guard isMultiplexed || version.elementsEqual("HTTP/1.1".utf8) || version.elementsEqual("HTTP/1.0".utf8)
        else { throw .protocolViolation("its version of HTTP") }
        status = digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
        guard status >= 100, !isMultiplexed || status != 101 else { throw .protocolViolation("the status \(status)") }
        fields.removeAll(keepingCapacity: true)
    }

    /// Reads the collected field, in which a space stands for each fold (RFC 9112, section 5.2).
    private mutating func endField() throws(FetchFailure) {
        guard !field.isEmpty else { return }
        defer {
            field.removeAll(keepingCapacity: true)
            isFolded = false
        }
        guard let (name, value) = try Self.nameAndValue(field[...]) else { return }
        // libcurl finds the end of a body by the first line alone.
        let framing = isFolded ? ["content-length", "transfer-encoding"] : []
        guard !framing.contains(Self.lowercased(name)) else {
            throw .protocolViolation("a length or transfer coding in several lines")
        }
        fields.reserveCapacity(512)
        for byte in name { fields.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) }
        let isLocation = name.count == 8 && fields.suffix(8).elementsEqual("location".utf8)
        fields += [UInt8(ascii: ":"), 0x20]
        if isLocation, String(validating: value, as: UTF8.self) == nil {
            // The names of files in another encoding: replacement characters would make another URL.
            for byte in value {
                fields += byte < 0x80 ? [byte] : Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        } else {
            fields.append(contentsOf: value)
        }
        fields.append(0x0A)
    }

    private static func lowercased(_ name: some Sequence<UInt8>) -> String {
        String(decoding: Array(name), as: UTF8.self).asciiLowercased
    }

    /// Splits a field into name and value; `nil` for a malformed field that is not essential.
    private static func nameAndValue(_ line: Line) throws(FetchFailure) -> (name: Line, value: Line)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw .protocolViolation("a field without a name")
        }
        let name = line[..<colon]
        var value = line[line.index(after: colon)...].drop(while: \.isBlank)
        while value.last?.isBlank == true { value.removeLast() }
        func isNameByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
        let isValid = value.allSatisfy(\.isOfFieldValue)
        if isValid, name.allSatisfy(isNameByte) { return (name, value) }
        // A name with spaces or other bytes in it might be meant, or read by a proxy, as the one without.
        let meant = lowercased(name.lazy.filter(isNameByte))
        guard !meant.isEmpty, !essentialNames.contains(meant) else {
            throw .protocolViolation(isValid ? "a field with an invalid name" : "a control character in a field")
        }
        return nil
    }

    private mutating func endHead() throws(FetchFailure) -> ResponseHead? {
        guard status >= 200 || status == 101 else {
            interimCount += 1
            guard interimCount <= Self.interimLimit else {
                throw .protocolViolation("informational responses without a final one")
            }
            state = .beginning
            return nil
        }
        state = .over
        let head = ResponseHead(
            status: status, isMultiplexed: isMultiplexed,
            fields: HTTPFields(checked: String(decoding: fields, as: UTF8.self)))
        try Self.checkFraming(head.fields)
        return head
    }

    /// Refuses a head that does not say clearly where the body ends (RFC 9112, section 6).
    private static func checkFraming(_ fields: HTTPFields) throws(FetchFailure) {
        // Only `chunked` is accepted: no other transfer coding was requested.
        let codings = fields["transfer-encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].asciiLowercased == "chunked" else {
            throw .protocolViolation("the transfer coding \(codings.joined(separator: ", "))")
        }
        let lengths = fields["content-length"]
        guard let length = lengths.first else { return }
        guard lengths.allSatisfy({ $0 == length }), length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            Int(length) != nil
        else { throw .protocolViolation("the length \(Set(lengths).sorted().joined(separator: ", "))") }
        guard codings.isEmpty else { throw .protocolViolation("a length besides the chunks") }
    }
}
