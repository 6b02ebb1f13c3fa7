// SPDX-License-Identifier: Apache-2.0
package import Reports

/// Requests to reload the configuration, by signal or by a client, which the agent serves one after the other.
package struct ReloadRequests: Sendable {
    /// Each takes its result.
    package let all: AsyncStream<AsyncStream<ReloadReport>.Continuation>
    private let requests: AsyncStream<AsyncStream<ReloadReport>.Continuation>.Continuation

    package init() { (all, requests) = AsyncStream.makeStream() }

    /// Adds a request; its result follows once it is served.
    @discardableResult
    func post() -> AsyncStream<ReloadReport> {
        let (results, request) = AsyncStream<ReloadReport>.makeStream()
        requests.yield(request)
        return results
    }
}
