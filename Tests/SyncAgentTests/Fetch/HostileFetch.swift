// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import TestSupport
import Testing
import Transfers

@testable import HTTPRules
@testable import SyncAgent
@testable import SyncPlan

/// One download into a folder of its own.
struct HostileFetch {
    var outcome: FetchOutcome
    /// Whether every answer came over HTTP/2.
    var isMultiplexed: Bool?
    /// What is left in `staging/`.
    var staging: [String]

    /// The code of the failure, or how else the download ended.
    var code: String {
        switch outcome {
        case .image: "image"
        case .notModified: "not-modified"
        case .failed(let failure): failure.code.rawValue
        case .noRoom(let shortage): shortage.code.rawValue
        case .cancelled: "cancelled"
        }
    }

    /// The digest of the image, if there is one.
    var digest: Digest? {
        if case .image(let staged, _) = outcome { staged.image.sha256 } else { nil }
    }

    /// Whether nothing was left behind, or only the image.
    var isTidy: Bool {
        if case .image(let staged, _) = outcome { staging == [staged.name] } else { staging.isEmpty }
    }

    /// Downloads from each URL in turn, over real sockets, and the same connections.
    ///
    /// The limits on time are so long that a busy machine does not meet them, unless a test sets others. `idleTimeouts`
    /// has the idle limits of single URLs, by their indices.
    static func run(
        _ urls: [String], allow: [String] = ["127.0.0.1"], validators: Validators? = nil,
        idleTimeouts: [Int: Duration] = [:], change: (inout Settings) -> Void = { _ in }
    ) async throws -> [HostileFetch] {
        var settings = Settings()
        settings.network.allow = try allow.map { try #require(AddressRange($0)) }
        settings.fetch.idleTimeout = .seconds(60)
        settings.fetch.connectTimeout = .seconds(30)
        settings.fetch.totalTimeout = .seconds(120)
        change(&settings)
        return try await withTemporaryFolder { [settings] path in
            try await CacheFixture(path).fetch(urls, settings, validators: validators, idleTimeouts: idleTimeouts)
        }
    }
}

extension CacheFixture {
    /// Downloads from each URL in turn, which has given the validators.
    @discardableResult
    func fetch(
        _ urls: [String], over transport: sending (any Transport)? = nil, _ settings: Settings,
        validators: Validators? = nil, idleTimeouts: [Int: Duration] = [:]
    ) async throws -> [HostileFetch] {
        try await Fetching.run(settings, into: staging, over: transport) { downloads in
            var fetches: [HostileFetch] = []
            var images: Set<String> = []
            for (index, url) in urls.enumerated() {
                if !idleTimeouts.isEmpty {
                    var own = settings
                    own.fetch.idleTimeout = idleTimeouts[index] ?? settings.fetch.idleTimeout
                    downloads.configure(own)
                }
                var end = EndedDownload(url: IconURL(url), .cancelled)
                do throws(FetchFailure) {
                    let source = try settings.network.source(of: end.url)
                    let condition: Condition? =
                        if case .server(let target) = source {
                            validators.map { Condition(url: target.url, validators: $0) }
                        } else {
                            nil
                        }
                    end = await downloads.fetch(
                        FetchRequest(url: end.url, source: source, reason: .notCached, condition: condition))
                } catch {
                    end.outcome = .failed(error)
                }
                let names = try names(in: "staging").subtracting(images).sorted()
                fetches.append(HostileFetch(outcome: end.outcome, isMultiplexed: end.isMultiplexed, staging: names))
                if case .image(let staged, _) = end.outcome { images.insert(staged.name) }
            }
            return fetches
        }
    }
}
