// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import TestSupport
import Testing

/// What a server that is broken or means harm sends over HTTP/2, and how the download has to end.
///
/// libcurl asks for no pushed streams, and passes over them.
struct MisbehavingStream: CustomTestStringConvertible, Sendable {
    static let icon = IconDrawing("Mail").png()
    private static let count = icon.count

    var name: String
    var code: String
    /// How often the request is sent at most.
    var requests: Int
    var steps: @Sendable (RawOrigin.Request) -> [RawOrigin.Step]

    var testDescription: String { name }

    /// An answer that a request gets each time it comes.
    private init(
        _ name: String, _ code: String, requests: Int = 1, end: RawOrigin.Step? = nil,
        _ frames: @escaping @Sendable (Int) -> [[UInt8]]
    ) {
        self.name = name
        self.code = code
        self.requests = requests
        steps = { request in frames(request.stream).map { .send($0) } + (end.map { [$0] } ?? []) }
    }

    /// The whole image.
    static func good(_ stream: Int) -> [UInt8] { head(stream) + Frame.data(stream, icon) }

    static func head(_ stream: Int) -> [UInt8] { Frame.headers(stream, [":status": "200"]) }

    /// The image behind a head.
    private static func head(_ name: String, _ code: String, _ fields: Frame.Fields) -> MisbehavingStream {
        MisbehavingStream(name, code) { [Frame.headers($0, fields), Frame.data($0, icon)] }
    }

    // MARK: Heads

    static let statuses: [MisbehavingStream] =
        [
            "000", "099", "1", "99", "1000", "abc", "", "+200", "0200", " 200", "200 OK", "101", "٢٠٠", "2147483648",
            "99999999999999999999",
        ].map { head("status \($0.debugDescription)", "protocol", [":status": $0]) } + [
            head("no status", "protocol", ["etag": "x"]), head("an empty head", "protocol", [:]),
            head("two statuses", "protocol", [":status": "200", ":status": "200"]),
            head("a status after a field", "protocol", ["etag": "x", ":status": "200"]),
            head("a status, and a path", "protocol", [":status": "200", ":path": "/"]),
            head("600", "http-600", [":status": "600"]), head("999", "http-999", [":status": "999"]),
            head("404", "http-404", [":status": "404"]), head("204 with a body", "http-204", [":status": "204"]),
            head("304 unasked, with a body", "http-304", [":status": "304"]),
        ]

    static let heads: [MisbehavingStream] = [
        .init("a head alone", "not-an-image") { [Frame.headers($0, [":status": "200"], end: true)] },
        .init("interim answers first", "image") {
            [Frame.headers($0, [":status": "103", "link": "<x>"]), Frame.headers($0, [":status": "100"]), good($0)]
        },
        .init("32 interim answers", "image") { stream in
            Array(repeating: Frame.headers(stream, [":status": "102"]), count: 32) + [good(stream)]
        },
        .init("33 interim answers", "protocol") { stream in
            Array(repeating: Frame.headers(stream, [":status": "102"]), count: 33) + [good(stream)]
        },
        .init("an interim answer, and the end", "protocol") { [Frame.headers($0, [":status": "103"], end: true)] },
        .init("an interim answer, the end, and an answer", "protocol") {
            [Frame.headers($0, [":status": "103"], end: true) + good($0)]
        },
        .init("a body in an interim answer", "protocol") {
            [Frame.headers($0, [":status": "103"]) + Frame.data($0, icon, end: false) + good($0)]
        },
        .init("a body before the head", "protocol") { [Frame.data($0, icon, end: false) + good($0)] },
        .init("a body without a head", "protocol") { [Frame.data($0, icon)] },
        .init("trailers", "image") {
            [head($0) + Frame.data($0, icon, end: false) + Frame.headers($0, ["a": "b"], end: true)]
        },
        .init("trailers that are not the end", "protocol") {
            [head($0) + Frame.data($0, icon, end: false) + Frame.headers($0, ["a": "b"]) + Frame.data($0, [])]
        },
        .init("trailers with a status", "protocol") {
            [head($0) + Frame.data($0, icon, end: false) + Frame.headers($0, [":status": "200"], end: true)]
        },
        .init("a second answer", "image") { [good($0) + good($0)] },
        head("a field of HTTP/1", "protocol", [":status": "200", "transfer-encoding": "chunked"]),
        head("a field with a capital letter", "protocol", [":status": "200", "ETag": "x"]),
        .init("a field without a name", "protocol") {
            [Frame.headers($0, [":status": "200", "": "x"])]
        },
        head("a field that is not ASCII", "protocol", [":status": "200", "ü": "x"]),
        head("a NUL in a field", "protocol", [":status": "200", "etag": "\"a\0b\""]),
        head("a line in a field", "protocol", [":status": "200", "etag": "x\r\ny: z"]),
        head("fields of 8 KiB", "image", [":status": "200", "x": String(repeating: "x", count: 8000)]),
        .init("fields of 100 KiB", "protocol") {
            [Frame.headers($0, [":status": "200", "x": String(repeating: "x", count: 100 << 10)])]
        },
        .init("a head that goes on in another frame", "protocol") {
            [Frame.bytes(type: 1, stream: $0, [0x88]) + Frame.data($0, icon)]
        },
        .init("a head that cannot be read", "protocol") {
            [Frame.bytes(type: 1, flags: 4, stream: $0, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F])]
        },
    ]

    // MARK: Bodies

    static let bodies: [MisbehavingStream] = [
        head("a length", "image", [":status": "200", "content-length": "\(count)"]),
        head(
            "a length twice", "protocol",
            [":status": "200", "content-length": "\(count)", "content-length": "\(count)"]),
        head("a length that is too long", "protocol", [":status": "200", "content-length": "\(count + 1)"]),
        head("a length that is too short", "protocol", [":status": "200", "content-length": "\(count - 1)"]),
        head("a negative length", "protocol", [":status": "200", "content-length": "-1"]),
        head("a length in words", "protocol", [":status": "200", "content-length": "many"]),
        head("two lengths", "protocol", [":status": "200", "content-length": "\(count)", "content-length": "1"]),
        .init("a length, and no body", "protocol") {
            [Frame.headers($0, [":status": "200", "content-length": "\(count)"], end: true)]
        },
        head("a length above the limit", "too-large", [":status": "200", "content-length": "5242881"]),
        head("gzip", "content-encoding", [":status": "200", "content-encoding": "gzip"]),
        .init("the image is cut", "image-truncated") { [head($0) + Frame.data($0, icon.dropLast(8))] },
        .init("a GIF without its trailer", "image") {
            let length = MisbehavingReply.endless.count
            return [
                Frame.headers($0, [":status": "200", "content-length": "\(length)"])
                    + Frame.data($0, MisbehavingReply.endless)
            ]
        },
        .init("no length, and a GIF without its trailer", "image-truncated") {
            [head($0) + Frame.data($0, MisbehavingReply.endless)]
        },
        .init("bytes one by one", "image") { stream in
            [head(stream)] + icon.map { Frame.data(stream, [$0], end: false) } + [Frame.data(stream, [])]
        },
        .init("padding", "image") {
            [head($0) + Frame.bytes(type: 0, flags: 9, stream: $0, [200] + icon + Array(repeating: 0, count: 200))]
        },
        .init("a frame that is too large", "not-an-image") {
            [head($0) + Frame.bytes(type: 0, stream: $0, Array(repeating: 0, count: 16_385))]
        },
        .init("a body that never comes", "timeout") { [head($0)] },
        .init("a body that stops", "timeout") { [head($0) + Frame.data($0, icon.dropLast(8), end: false)] },
    ]

    // MARK: Ends

    static let ends: [MisbehavingStream] = [
        .init("a reset before the head", "connection-closed") { [Frame.reset($0, 2)] },
        .init("a reset within the body", "connection-closed") {
            [head($0) + Frame.data($0, icon, end: false) + Frame.reset($0, 2)]
        },
        .init("a reset without error before the length is reached", "connection-closed") {
            [
                Frame.headers($0, [":status": "200", "content-length": "\(count)"])
                    + Frame.data($0, icon.dropLast(8), end: false) + Frame.reset($0, 0)
            ]
        },
        .init("a reset for a protocol error", "connection-closed") { [Frame.reset($0, 1)] },
        .init("a reset after the end", "image") { [good($0) + Frame.reset($0, 0)] },
        .init("refused", "connection-closed", requests: 6) { [Frame.reset($0, 7)] },
        .init("refused within the body", "connection-closed", requests: 6) {
            [head($0) + Frame.data($0, icon, end: false) + Frame.reset($0, 7)]
        },
        .init("a close before the head", "connection-closed", end: .close) { _ in [] },
        .init("a break before the head", "connection-closed", end: .reset) { _ in [] },
        .init("a close within the body", "connection-closed", end: .close) {
            [head($0) + Frame.data($0, icon, end: false)]
        },
        .init("a break within the body", "connection-closed", end: .reset) {
            [head($0) + Frame.data($0, icon, end: false)]
        },
        .init("a break within a frame", "connection-closed", end: .reset) {
            [head($0) + Frame.data($0, icon).dropLast(10)]
        },
        .init("GOAWAY after the answer", "image") { [good($0) + Frame.goAway(last: $0)] },
        .init("GOAWAY within the body", "image") {
            [head($0) + Frame.goAway(last: $0), Frame.data($0, icon)]
        },
        .init("GOAWAY, and a close, within the body", "connection-closed", end: .close) {
            [head($0) + Frame.data($0, icon, end: false) + Frame.goAway(last: $0, 2)]
        },
        .init("two GOAWAY frames, the second for less", "connection-closed", requests: 6) { _ in
            [Frame.goAway(last: 2_147_483_647) + Frame.goAway(last: 0)]
        },
        .init("GOAWAY that goes back on another", "protocol") {
            [Frame.goAway(last: $0) + Frame.goAway(last: $0 + 2)]
        },
        .init("a push", "image") {
            [Frame.push($0, promised: 2, request) + good($0)]
        },
        .init("a push, and its answer", "image") {
            [Frame.push($0, promised: 2, request), good(2), good($0)]
        },
        .init("a push on a stream of the client", "protocol") {
            [Frame.push($0, promised: 3, request) + good($0)]
        },
    ]

    private static let request: Frame.Fields = [
        ":method": "GET", ":scheme": "https", ":authority": "127.0.0.1", ":path": "/icon",
    ]

    // MARK: Frames of the connection

    static let connections: [MisbehavingStream] = [
        .init("frames that say nothing", "image") {
            [
                Frame.ping() + Frame.bytes(type: 99, stream: $0, [1, 2, 3])
                    + Frame.bytes(type: 2, stream: $0, [0, 0, 0, 0, 1])
                    + Frame.bytes(type: 8, stream: 0, [0, 0, 0, 1]) + good($0)
            ]
        },
        .init("an empty window update", "protocol") { [Frame.bytes(type: 8, stream: $0, [0, 0, 0, 0]) + good($0)] },
        .init("an empty window update for all", "protocol") { _ in
            [Frame.bytes(type: 8, [0, 0, 0, 0])]
        },
        .init("a window that is too large", "protocol") { _ in
            [Frame.bytes(type: 8, [0x7F, 0xFF, 0xFF, 0xFF])]
        },
        .init("a setting that is too large", "protocol") { _ in
            [Frame.settings([4: 0x8000_0000])]
        },
        .init("a setting that is too small", "protocol") { _ in [Frame.settings([5: 1])] },
        .init("settings cut short", "protocol") { _ in [Frame.bytes(type: 4, [0, 1, 0])] },
        .init("settings of a stream", "protocol") { [Frame.bytes(type: 4, stream: $0)] },
        .init("a settings acknowledgement unasked", "protocol") { _ in
            [Frame.bytes(type: 4, flags: 1), Frame.bytes(type: 4, flags: 1)]
        },
        .init("a ping cut short", "protocol") { _ in [Frame.ping("ping")] },
        .init("a continuation of nothing", "protocol") {
            [Frame.bytes(type: 9, flags: 4, stream: $0, [0x88])]
        },
        .init("a reset of a stream to come", "protocol") { [Frame.reset($0 + 2, 0)] },
        .init("a head of a stream to come", "protocol") { [good($0 + 2)] },
        .init("HTTP/1", "protocol") { _ in
            [Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)]
        },
    ]
}
