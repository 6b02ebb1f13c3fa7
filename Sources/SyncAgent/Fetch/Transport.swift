// SPDX-License-Identifier: Apache-2.0
package import NIOCore
package import NIOHTTP1
package import SyncPlan

/// Sends one request and gives back its answer, redirects and error statuses included.
package protocol Transport: Sendable {
    /// The proxy that the request goes to, which resolves the host's name in its own way; `nil` if there is none.
    func proxy(for target: FetchTarget) -> Proxy?

    /// Sends a GET request.
    ///
    /// - Throws: A ``FetchFailure`` if there is no answer, a `Shortage` if the agent has not the means to ask, or
    ///   `CancellationError`.
    func get(_ target: FetchTarget, headers: HTTPHeaders) async throws -> TransportResponse
}

/// An answer, whose body has yet to be read.
package struct TransportResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    /// Whether it came over a connection that many requests share at once (HTTP/2).
    package var isMultiplexed: Bool
    /// The body, which must be read to its end or given up before the next request goes over its connection.
    package var body: any AsyncSequence<ByteBuffer, any Error> & Sendable

    package init(
        status: Int, headers: HTTPHeaders, isMultiplexed: Bool = false,
        body: any AsyncSequence<ByteBuffer, any Error> & Sendable
    ) {
        self.status = status
        self.headers = headers
        self.isMultiplexed = isMultiplexed
        self.body = body
    }
}
