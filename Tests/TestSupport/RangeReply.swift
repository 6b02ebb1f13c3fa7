// SPDX-License-Identifier: Apache-2.0

extension RawOrigin.Request {
    /// The values of a field, whose name is spelled as it was sent.
    package func values(of name: String) -> [String] {
        head.split(separator: "\r\n").filter { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// The answer of a server that supports ranges: all of the bytes, or those from the first one that is asked for.
    ///
    /// - Parameters:
    ///   - bytes: What the server has.
    ///   - entityTag: Its tag, quotes included.
    ///   - longest: The most bytes of a range.
    /// - Returns: The answer as it is sent.
    package func rangeReply(_ bytes: [UInt8], entityTag: String, longest: Int = .max) -> [UInt8] {
        let first = values(of: "Range").first.flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
        guard let first, first < bytes.count, values(of: "If-Range") == [entityTag] else {
            let head = "HTTP/1.1 200 OK\r\nETag: \(entityTag)\r\nContent-Length: \(bytes.count)\r\n\r\n"
            return Array(head.utf8) + bytes
        }
        let range = bytes[first...].prefix(longest)
        let head =
            "HTTP/1.1 206 Partial Content\r\nETag: \(entityTag)\r\nContent-Length: \(range.count)\r\n"
            + "Content-Range: bytes \(first)-\(range.endIndex - 1)/\(bytes.count)\r\n\r\n"
        return Array(head.utf8) + range
    }
}
