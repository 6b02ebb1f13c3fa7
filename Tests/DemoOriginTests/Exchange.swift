// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import NIOHTTP1
import Testing

/// What came back for one request.
struct Exchange {
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]

    /// Asks once, over a connection of its own.
    static func with(
        _ url: String, method: HTTPMethod = .GET, headers: [(String, String)] = [], upTo limit: Int = 16 << 20
    ) async throws -> Exchange {
        let (port, target) = try parts(of: url)
        return try await LocalConnection.open(to: .port(port)) { connection in
            let head = try await connection.ask(method, target, fields: headers)
            return Exchange(
                status: Int(head.status.code), headers: head.headers, body: try await connection.rest(upTo: limit))
        }
    }

    /// The port and the rest of a URL of an origin on loopback.
    private static func parts(of url: String) throws -> (port: Int, target: String) {
        let match = try #require(url.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/.*)?/))
        return (try #require(Int(match.1)), match.2.map(String.init) ?? "/")
    }
}
