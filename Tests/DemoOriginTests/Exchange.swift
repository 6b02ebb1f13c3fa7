// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// What came back for one request.
struct Exchange {
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]

    /// Asks once, with a client of its own: nothing is retried, followed or decompressed.
    static func with(
        _ url: String, method: HTTPMethod = .GET, headers: [(String, String)] = [], upTo limit: Int = 16 << 20
    ) async throws -> Exchange {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await client.exchange(url, method: method, headers: headers, upTo: limit)
        }
    }
}

extension HTTPClient {
    /// Asks once, over a connection of this client's pool.
    func exchange(
        _ url: String, method: HTTPMethod = .GET, headers: [(String, String)] = [], upTo limit: Int = 16 << 20
    ) async throws -> Exchange {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders(headers)
        let response = try await execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: limit)
        return Exchange(
            status: Int(response.status.code), headers: response.headers, body: Array(body.readableBytesView))
    }
}
