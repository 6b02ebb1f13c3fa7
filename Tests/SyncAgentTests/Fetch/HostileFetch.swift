// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

/// One download over real sockets into a folder of its own.
struct HostileFetch {
    var outcome: FetchOutcome
    /// What is left in `staging/`.
    var staging: [String]

    /// The code of the failure, or how else the download ended.
    var code: String {
        switch outcome {
        case .image: "image"
        case .notModified: "not-modified"
        case .failed(let failure): failure.code
        case .noRoom: Shortage.code
        case .cancelled: "cancelled"
        }
    }

    /// Whether nothing was left behind, or only the image.
    var isTidy: Bool {
        if case .image(let staged, _) = outcome { staging == [staged.name] } else { staging.isEmpty }
    }

    /// Downloads from each URL in turn, over the same connections.
    ///
    /// The limits on time are so long that a busy machine does not meet them, unless a test sets others.
    static func run(
        _ urls: [String], allow: [String] = ["127.0.0.1"], validators: Validators? = nil,
        change: (inout Settings) -> Void = { _ in }
    ) async throws -> [HostileFetch] {
        var settings = Settings()
        settings.network.allow = try allow.map { try #require(AddressRange($0)) }
        settings.fetch.idleTimeout = .seconds(60)
        settings.fetch.connectTimeout = .seconds(30)
        settings.fetch.totalTimeout = .seconds(120)
        change(&settings)
        return try await withTemporaryFolder { [settings] path in
            try await HTTPTransport.run(settings) { transport in
                let cache = try CacheFixture(path)
                let fetcher = Fetcher(
                    transport: transport, staging: cache.staging, settings: settings, clock: AgentClock())
                var fetches: [HostileFetch] = []
                var before: Set<String> = []
                for url in urls {
                    let outcome: FetchOutcome
                    do {
                        let source = try IconSource(url)
                        outcome = await fetcher.fetch(
                            FetchRequest(url: url, source: source, reason: .notCached, validators: validators)
                        ).outcome
                    } catch let failure as FetchFailure {
                        outcome = .failed(failure)
                    }
                    let names = try cache.names(in: "staging")
                    fetches.append(HostileFetch(outcome: outcome, staging: names.subtracting(before).sorted()))
                    before = names
                }
                return fetches
            }
        }
    }
}

extension HTTPTransport {
    /// Runs the body with a transport that is shut down at the end, however it ends.
    static func run<R>(_ settings: Settings, _ body: (HTTPTransport) async throws -> R) async throws -> R {
        let transport = HTTPTransport(settings: settings)
        do {
            let result = try await body(transport)
            await transport.shutdown()
            return result
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    /// Reads an answer to the end of its body.
    func answer(from url: String) async throws -> (status: Int, body: [UInt8]) {
        let response = try await get(try FetchTarget(url), headers: [:])
        var body: [UInt8] = []
        for try await buffer in response.body { body += Array(buffer.readableBytesView) }
        return (response.status, body)
    }
}
