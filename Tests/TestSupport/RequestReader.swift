// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK

/// Finds the heads of requests in what a client sends: HTTP/1, or HTTP/2 from its preface on.
struct RequestReader {
    struct Head {
        var text: String
        var target: String
        var stream = 0
    }

    private var received = ByteBuffer()
    private var isHTTP2 = false
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

    mutating func append(_ bytes: ByteBuffer) {
        received.writeImmutableBuffer(bytes)
    }

    /// The next head, which is taken away; `nil` while there is none.
    ///
    /// The preface of HTTP/2 (`PRI * HTTP/2.0`, RFC 9113, section 3.4) counts as a request for `*`.
    mutating func next() throws -> Head? {
        if !isHTTP2 {
            guard let head = nextText() else { return nil }
            isHTTP2 = head.text == "SM\r\n\r\n"
            guard isHTTP2 else { return head }
        }
        return try nextStream()
    }

    private mutating func nextText() -> Head? {
        let end = Array("\r\n\r\n".utf8)
        let bytes = received.readableBytesView
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }),
            let text = received.readString(length: start - bytes.startIndex + end.count)
        else { return nil }
        return Head(text: text, target: text.split(separator: " ").dropFirst().first.map(String.init) ?? "")
    }

    /// Looks for HEADERS frames (RFC 9113, section 6.2), without padding and whole, and passes over all others.
    private mutating func nextStream() throws -> Head? {
        while let length = received.getInteger(at: received.readerIndex, as: UInt32.self).map({ Int($0 >> 8) }),
            received.readableBytes >= 9 + length, let head = received.readBytes(length: 9),
            var payload = received.readSlice(length: length)
        {
            guard head[3] == 1 else { continue }
            let fields = try decoder.decodeHeaders(from: &payload)
            let stream = head[5...].reduce(0) { $0 << 8 | Int($1) }
            let text = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            return Head(text: text, target: fields.first(name: ":path") ?? "", stream: stream)
        }
        return nil
    }
}
