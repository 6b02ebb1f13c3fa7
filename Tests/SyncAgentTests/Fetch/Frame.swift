// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Frames of HTTP/2 as bytes (RFC 9113, sections 4 and 6), right or wrong.
enum Frame {
    typealias Fields = KeyValuePairs<String, String>

    static func bytes(type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) -> [UInt8] {
        BinaryList.bigEndian(payload.count, 3) + [type, flags] + BinaryList.bigEndian(stream, 4) + payload
    }

    static func data(_ stream: Int, _ body: [UInt8], end: Bool = true) -> [UInt8] {
        var frames: [UInt8] = []
        var rest = body[...]
        while rest.count > maxSize {
            frames += bytes(type: 0, stream: stream, Array(rest.prefix(maxSize)))
            rest = rest.dropFirst(maxSize)
        }
        return frames + bytes(type: 0, flags: end ? 1 : 0, stream: stream, Array(rest))
    }

    /// A head or trailers, continued where they are too long for a frame.
    static func headers(_ stream: Int, _ fields: Fields, end: Bool = false) -> [UInt8] {
        continued(type: 1, flags: end ? 1 : 0, stream, block(fields))
    }

    static func reset(_ stream: Int, _ code: Int) -> [UInt8] {
        bytes(type: 3, stream: stream, BinaryList.bigEndian(code, 4))
    }

    static func settings(_ values: KeyValuePairs<Int, Int> = [:]) -> [UInt8] {
        bytes(type: 4, values.flatMap { BinaryList.bigEndian($0.key, 2) + BinaryList.bigEndian($0.value, 4) })
    }

    static func push(_ stream: Int, promised: Int, _ fields: Fields) -> [UInt8] {
        continued(type: 5, flags: 0, stream, BinaryList.bigEndian(promised, 4) + block(fields))
    }

    static func ping(_ text: String = "syncping") -> [UInt8] { bytes(type: 6, Array(text.utf8)) }

    static func goAway(last: Int, _ code: Int = 0) -> [UInt8] {
        bytes(type: 7, BinaryList.bigEndian(last, 4) + BinaryList.bigEndian(code, 4))
    }

    private static let maxSize = 16_384

    private static func continued(type: UInt8, flags: UInt8, _ stream: Int, _ block: [UInt8]) -> [UInt8] {
        let rest = block.dropFirst(maxSize)
        let first = bytes(
            type: type, flags: rest.isEmpty ? flags | 4 : flags, stream: stream, Array(block.prefix(maxSize)))
        return rest.isEmpty ? first : first + continued(type: 9, flags: 0, stream, Array(rest))
    }

    /// Fields as HPACK has them without its tables (RFC 7541, section 6.2.2).
    private static func block(_ fields: Fields) -> [UInt8] {
        fields.flatMap { [0] + string($0.key) + string($0.value) }
    }

    private static func string(_ text: String) -> [UInt8] {
        var length: [UInt8] = []
        var rest = text.utf8.count
        if rest < 127 {
            length = [UInt8(rest)]
        } else {
            length = [127]
            rest -= 127
            while rest >= 128 {
                length.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            length.append(UInt8(rest))
        }
        return length + text.utf8
    }
}
