// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import TestSupport
import Testing

/// What a server that is broken or means harm sends, and how the download has to end.
struct MisbehavingReply: CustomTestStringConvertible {
    static let icon = IconDrawing("Mail").png()
    /// A whole GIF of one pixel, but for its trailer.
    static let endless: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0, 0, 0xFF, 0xFF, 0xFF]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]

    var name: String
    var steps: [RawOrigin.Step]
    var code: String

    init(_ name: String, _ code: String, _ steps: [RawOrigin.Step]) {
        self.name = name
        self.steps = steps
        self.code = code
    }

    /// An answer with these header lines and this body, after which the connection is closed.
    init(
        _ name: String, _ code: String, status: String = "200 OK", _ headers: String..., body: [UInt8] = icon,
        end: RawOrigin.Step = .close
    ) {
        let head = (["HTTP/1.1 \(status)"] + headers).map { $0 + "\r\n" }.joined() + "\r\n"
        self.init(name, code, [.send(Array(head.utf8) + body), end])
    }

    /// An answer in chunks, given as they are sent.
    static func chunked(
        _ name: String, _ code: String, _ body: [UInt8], coding: String = "chunked"
    ) -> MisbehavingReply {
        MisbehavingReply(name, code, "Transfer-Encoding: \(coding)", body: body)
    }

    /// Answers with header lines that must not be accepted.
    private static func malformed(_ lines: KeyValuePairs<String, String>) -> [MisbehavingReply] {
        lines.map { MisbehavingReply($0.key, "protocol", $0.value) }
    }

    var testDescription: String { name }

    /// One chunk, with its size as the text says it, or the true one.
    static func chunk(_ bytes: [UInt8], size: String? = nil) -> [UInt8] {
        Array("\(size ?? String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    static let all: [MisbehavingReply] = [
        bodies, lengths, chunks, codings, heads, fields, statuses, redirects,
    ].flatMap(\.self)

    private static let last = Array("0\r\n\r\n".utf8)
    private static let count = icon.count
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n"

    // MARK: Bodies

    static let bodies: [MisbehavingReply] = [
        .init("the whole image", "image", "Content-Length: \(count)"),
        .init("the whole image without a length", "image"),
        .init("a length that is too long", "connection-closed", "Content-Length: \(count + 1)"),
        .init("a body cut by a reset", "connection-closed", "Content-Length: \(count + 1)", end: .reset),
        .init("a body that never comes", "connection-closed", "Content-Length: \(count)", body: []),
        .init("a length that is too short", "image-truncated", "Content-Length: \(count - 1)"),
        .init("no body", "not-an-image", "Content-Length: 0", body: []),
        .init("a length of 2^63 - 1", "too-large", "Content-Length: 9223372036854775807"),
        .init("a length above the limit", "too-large", "Content-Length: 5242881"),
        .init("no length, and the image is cut", "image-truncated", body: icon.dropLast(8)),
        .init("a GIF without its trailer", "image", "Content-Length: \(endless.count)", body: endless),
        .init("no length, and a GIF without its trailer", "image-truncated", body: endless),
        .init("no length, and the connection is reset", "connection-closed", body: icon.dropLast(8), end: .reset),
        .init(
            "a page instead of the image", "not-an-image", "Content-Type: image/png",
            body: Array("<!DOCTYPE html><p>".utf8)),
        .init(
            "JSON instead of the image", "not-an-image", "Content-Type: image/png", body: Array("{\"error\": 1}".utf8)),
        .init("an image with more behind it", "image", "Content-Length: \(count)", body: icon + last),
    ]

    static let lengths = malformed([
        "two different lengths": "Content-Length: \(count)\r\nContent-Length: \(count + 1)",
        "two different lengths in a line": "Content-Length: \(count), \(count + 1)",
        "a negative length": "Content-Length: -\(count)", "a length with a sign": "Content-Length: +\(count)",
        "a length in hexadecimal": "Content-Length: 0x\(String(count, radix: 16))",
        "a length with letters behind it": "Content-Length: \(count)abc",
        "a length that no number holds": "Content-Length: 18446744073709551616",
    ])

    static let chunks: [MisbehavingReply] = [
        .chunked("good chunks", "image", chunk(icon) + last),
        .chunked("chunks of one byte", "image", icon.flatMap { chunk([$0]) } + last),
        .chunked("chunks with extensions", "image", chunk(icon, size: "\(String(count, radix: 16));a=\"b\"") + last),
        .chunked("a GIF without its trailer in chunks", "image", chunk(endless) + last),
        .chunked("chunks with trailers", "image", chunk(icon) + Array("0\r\nA: b\r\n\r\n".utf8)),
        .chunked("chunks without the last one", "connection-closed", chunk(icon)),
        .chunked("a chunk that is cut", "connection-closed", chunk(icon, size: "ffff")),
        .chunked("chunks cut within a size", "connection-closed", chunk(icon) + Array("1".utf8)),
        .chunked("chunks cut within the trailers", "connection-closed", chunk(icon) + Array("0\r\nA: b\r\n".utf8)),
        .chunked("a size that is no number", "connection-closed", chunk(icon, size: "no")),
        .chunked("a size that is empty", "connection-closed", chunk(icon, size: "")),
        .chunked("a negative size", "connection-closed", chunk(icon, size: "-1")),
        .chunked("a size with a prefix", "protocol", chunk(icon, size: "0x10")),
        .chunked("a size that no number holds", "connection-closed", chunk(icon, size: "10000000000000000")),
        .chunked("a size that is too small", "connection-closed", chunk(icon, size: "5")),
        .chunked("a NUL in a trailer", "protocol", chunk(icon) + Array("0\r\nA: \0\r\n\r\n".utf8)),
        .chunked("identity before chunked", "protocol", chunk(icon) + last, coding: "identity, chunked"),
        .chunked("chunked before another coding", "protocol", chunk(icon) + last, coding: "chunked, gzip"),
        .init(
            "chunks and a length", "protocol", "Content-Length: 5", "Transfer-Encoding: chunked",
            body: chunk(icon) + last),
        .init(
            "chunked twice", "protocol", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked",
            body: chunk(icon) + last),
    ]

    static let codings: [MisbehavingReply] = [
        .init("identity", "image", "Content-Encoding: identity"),
        .init("a coding of another layer", "image", "Content-Encoding: aws-chunked"),
        .init("no coding", "image", "Content-Encoding:"),
        .init("gzip", "content-encoding", "Content-Encoding: gzip"),
        .init("br", "content-encoding", "Content-Encoding: br"),
        .init("codings in a line", "content-encoding", "Content-Encoding: identity, gzip"),
        .init("codings in lines", "content-encoding", "Content-Encoding: identity", "Content-Encoding: x-gzip"),
        .init("gzip as a transfer coding", "protocol", "Transfer-Encoding: gzip, chunked", body: chunk(icon) + last),
    ]

    // MARK: Heads

    static let heads: [MisbehavingReply] = [
        .init("a close before the first byte", "connection-closed", [.close]),
        .init("a reset before the first byte", "connection-closed", [.reset]),
        .init("a close within the head", "connection-closed", [.send("HTTP/1.1 200 OK\r\nContent-"), .close]),
        .init("a reset within the head", "connection-closed", [.send("HTTP/1.1 200 OK\r\nContent-"), .reset]),
        .init("HTTP/0.9", "protocol", [.send(icon), .close]),
        .init("HTTP/1.0", "image", [.send(Array("HTTP/1.0 200 OK\r\n\r\n".utf8) + icon), .close]),
        .init("HTTP/1.2", "protocol", [.send(Array("HTTP/1.2 200 OK\r\n\r\n".utf8) + icon), .close]),
        .init("HTTP/2 in text", "protocol", [.send(Array("HTTP/2.0 200 OK\r\n\r\n".utf8) + icon), .close]),
        .init("another protocol", "protocol", [.send("220 mail.example ESMTP\r\n"), .close]),
        .init("no reason", "image", [.send(Array("HTTP/1.1 200\r\n\r\n".utf8) + icon), .close]),
        .init("a field over two lines", "image", "X: a;\r\n  b", "Content-Length: \(count)"),
        .init("malformed fields that nothing goes by", "image", "X : a\r\n Content-Length: 5", "Y Z: \rb"),
        .init("a status of two digits", "protocol", status: "20 OK"),
        .init("a status of four digits", "protocol", status: "2000 OK"),
        .init("a negative status", "protocol", status: "-200 OK"),
        .init("a status of letters", "protocol", status: "OK"),
        .init("status 0", "protocol", status: "000 OK"),
        .init("status 99", "protocol", status: "099 OK"),
        .init("a field before the status", "protocol", [.send("X: a\r\n" + plain + "\r\n"), .send(icon), .close]),
        .init(
            "bytes that are not UTF-8", "image",
            [.send(Array("\(plain)X: ".utf8) + [0xFF, 0xFE, 13, 10, 13, 10] + icon), .close]),
    ]

    static let fields = malformed([
        "a field without a colon": "Nonsense", "a field without a name": ": x", "a space before a colon": "ETag : x",
        "a NUL in a field": "ETag: \"a\0b\"", "a NUL in a name": "ET\0ag: x", "a bare CR in a field": "ETag: a\rb",
        "a length over two lines": "Content-Length:\r\n \(count)",
        "a length that goes on": "Content-Length: \(count)\r\n 0",
        "a coding over two lines": "Transfer-Encoding:\r\n chunked",
        "a field of 100 KiB": "X: \(String(repeating: "x", count: 100 << 10))",
        "a name of 100 KiB": "\(String(repeating: "x", count: 100 << 10)): x",
        "a thousand fields": String(repeating: "X: x\r\n", count: 999) + "X: x",
    ])

    // MARK: Statuses

    static let statuses: [MisbehavingReply] = [
        .init("204", "http-204", status: "204 No Content", body: []),
        .init("204 with a body", "http-204", status: "204 No Content", "Content-Length: \(count)"),
        .init("205", "http-205", status: "205 Reset Content", "Content-Length: 0", body: []),
        .init(
            "206 unasked, whole", "http-206", status: "206 Partial Content",
            "Content-Range: bytes 0-\(count - 1)/\(count)"),
        .init("206 unasked, wrong", "http-206", status: "206 Partial Content", "Content-Range: bytes 5-9/3"),
        .init("300 with a place", "http-300", status: "300 Multiple Choices", "Location: /icon"),
        .init("304 unasked", "http-304", status: "304 Not Modified", body: []),
        .init("304 unasked, with a place", "http-304", status: "304 Not Modified", "Location: /icon", body: []),
        .init("305 with a proxy", "http-305", status: "305 Use Proxy", "Location: /icon"),
        .init("306", "http-306", status: "306 Unused", "Location: /icon"),
        .init("407", "http-407", status: "407 Proxy", "Proxy-Authenticate: Basic"),
        .init("421", "http-421", status: "421 Misdirected"), .init("451", "http-451", status: "451 Law"),
        .init("600", "http-600", status: "600 What"), .init("999", "http-999", status: "999 What"),
        .init("101", "http-101", status: "101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"),
        .init(
            "interim answers first", "image",
            [.send("HTTP/1.1 103 x\r\nLink: <x>\r\n\r\nHTTP/1.1 100 x\r\n\r\n" + plain + "\r\n"), .send(icon), .close]),
        .init("only an interim answer", "connection-closed", [.send("HTTP/1.1 100 x\r\n\r\n"), .close]),
        .init(
            "an interim answer with a length", "image",
            [.send("HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\n" + plain + "\r\n"), .send(icon), .close]),
        .init(
            "an interim answer with a body", "protocol",
            [.send("HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\nhello" + plain + "\r\n"), .send(icon), .close]),
    ]

    // MARK: Redirects

    private static func redirect(_ name: String, _ code: String, to locations: String...) -> MisbehavingReply {
        let fields = locations.map { "Location: \($0)" }.joined(separator: "\r\n")
        return .init(
            name, code, status: "302 Found", locations.isEmpty ? "X: x" : fields, "Content-Length: 0", body: [])
    }

    static let redirects: [MisbehavingReply] = [
        redirect("to the image", "image", to: "/icon"),
        redirect("to the image, twice the same", "image", to: "/icon", "/icon"),
        redirect("to two places", "bad-redirect", to: "/icon", "/other"),
        redirect("to nowhere", "bad-redirect"), redirect("to nothing", "bad-redirect", to: ""),
        redirect("to itself", "redirect-loop", to: "/"), redirect("in a circle", "redirect-loop", to: "/circle"),
        redirect("without end", "too-many-redirects", to: "/0"),
        redirect("to a long place", "bad-redirect", to: "/" + String(repeating: "x", count: 9000)),
        redirect("to a file", "scheme-refused", to: "file:///etc/passwd"),
        redirect("to a socket", "scheme-refused", to: "http+unix://%2Frun%2Fx.sock/"),
        redirect("to ftp", "scheme-refused", to: "ftp://127.0.0.1/"),
        redirect("to data", "scheme-refused", to: "data:image/png;base64,"),
        redirect("to a port above all", "port-refused", to: "http://h.example:65536/"),
        redirect("to port 0", "port-refused", to: "//h.example:0/"),
        redirect("to a user", "userinfo-refused", to: "http://a:b@127.0.0.1/"),
        redirect("to another machine", "address-refused", to: "http://10.0.0.1/"),
        redirect("to the metadata", "address-refused", to: "http://169.254.169.254/latest/"),
        redirect("to another loopback", "address-refused", to: "http://[::1]/"),
        redirect("to a broken host", "bad-redirect", to: "http://[::1/"),
        .init("to a place with a NUL", "protocol", status: "302 Found", "Location: /i\0con"),
        .init("to a place with a line in it", "protocol", status: "302 Found", "Location: /icon\r X: y"),
    ]
}
