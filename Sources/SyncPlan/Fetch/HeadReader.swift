// SPDX-License-Identifier: Apache-2.0

/// The head of an answer: its status and fields.
package struct ResponseHead: Sendable {
    package var status: Int
    /// Whether it came over a connection that many requests share at once (HTTP/2).
    package var isMultiplexed: Bool
    package var fields: HTTPFields

    package init(status: Int, isMultiplexed: Bool = false, fields: HTTPFields) {
        self.status = status
        self.isMultiplexed = isMultiplexed
        self.fields = fields
    }
}

/// Makes the head of the final answer out of the lines that come before a body (RFC 9112, sections 4 and 5).
///
/// Interim answers are passed over, and so are trailers.
package struct HeadReader: Sendable {
    /// The most bytes of all heads and trailers of an answer.
    package static let limit = 128 << 10
    /// The most interim answers before the final one.
    private static let interimLimit = 32

    private enum State {
        /// A status line comes next.
        case beginning
        case inHead
        /// The final head has ended: what comes are trailers.
        case over
    }

    private var state = State.beginning
    private var status = 0
    private var isMultiplexed = false
    private var interimCount = 0
    private var count = 0
    /// The fields of the head so far, as ``HTTPFields/text``.
    private var fields: [UInt8] = []

    package init() {}

    /// Reads a line, with its line break.
    ///
    /// - Returns: The head, if the line ends that of the final answer.
    /// - Throws: A ``FetchFailure`` with the code `protocol`.
    package mutating func read(_ line: UnsafeRawBufferPointer) throws(FetchFailure) -> ResponseHead? {
        count += line.count
        guard count <= Self.limit else { throw .protocolViolation("its head is longer than \(Self.limit) bytes") }
        var rest = line[...]
        while let last = rest.last, last == 0x0A || last == 0x0D { rest.removeLast() }
        switch state {
        case .beginning:
            try readStatus(rest)
            state = .inHead
        case .inHead where rest.isEmpty: return try endHead()
        case .inHead: try readField(rest)
        case .over: break
        }
        return nil
    }

    private mutating func readStatus(_ line: Slice<UnsafeRawBufferPointer>) throws(FetchFailure) {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
            parts[1].allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .protocolViolation("its status line") }
        status = parts[1].reduce(0) { 10 * $0 + Int($1 - 0x30) }
        guard status >= 100, status != 101 else { throw .protocolViolation("the status \(status)") }
        isMultiplexed = parts[0].dropFirst(5).first == UInt8(ascii: "2")
        fields.removeAll(keepingCapacity: true)
    }

    private mutating func readField(_ line: Slice<UnsafeRawBufferPointer>) throws(FetchFailure) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw .protocolViolation("a field without a name")
        }
        fields.reserveCapacity(512)
        for byte in line[..<colon] {
            guard byte > 0x20, byte < 0x7F else { throw .protocolViolation("a field whose name is no token") }
            fields.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var value = line[line.index(after: colon)...].drop(while: isWhitespace)
        while let last = value.last, isWhitespace(last) { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .protocolViolation("a control character in a field")
        }
        fields += [UInt8(ascii: ":"), 0x20]
        fields.append(contentsOf: value)
        fields.append(0x0A)
    }

    private mutating func endHead() throws(FetchFailure) -> ResponseHead? {
        guard status >= 200 else {
            interimCount += 1
            guard interimCount <= Self.interimLimit else {
                throw .protocolViolation("interim answers without a final one")
            }
            state = .beginning
            return nil
        }
        state = .over
        let head = ResponseHead(
            status: status, isMultiplexed: isMultiplexed, fields: HTTPFields(text: String(decoding: fields, as: UTF8.self)))
        // The body comes as it is, or in chunks and nothing else (RFC 9112, section 6.1): none was asked for.
        let codings = head.fields["transfer-encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw .protocolViolation("the transfer coding \(codings.joined(separator: ", "))")
        }
        return head
    }
}
