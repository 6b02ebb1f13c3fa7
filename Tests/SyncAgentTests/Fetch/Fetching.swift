// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import Transfers

@testable import SyncAgent

/// Downloads that are waited for one by one.
final class Fetching: Sendable {
    /// Who waits for the download of each URL.
    private final class Waiters: Sendable {
        let continuations = Mutex<[IconURL: CheckedContinuation<EndedDownload, Never>]>([:])

        func report(_ ends: [EndedDownload]) {
            for end in ends { continuations.withLock { $0.removeValue(forKey: end.url) }?.resume(returning: end) }
        }
    }

    private let downloads: Downloads
    private let proxies: ProxyPolicy
    private let waiters = Waiters()

    private init(
        _ settings: Settings, into staging: Staging, through proxies: ProxyPolicy,
        over transport: sending (any Transport)?
    ) {
        self.proxies = proxies
        downloads = Downloads(
            settings: settings, proxies: proxies, transport: transport, staging: staging, clock: AgentClock(),
            report: waiters.report)
    }

    /// Runs the body with downloads that are shut down at its end, however it ends.
    static func run<R>(
        _ settings: Settings, into staging: Staging, through proxies: ProxyPolicy = ProxyPolicy(),
        over transport: sending (any Transport)? = nil, _ body: (Fetching) async throws -> R
    ) async throws -> R {
        let fetching = Fetching(settings, into: staging, through: proxies, over: transport)
        let result: Result<R, any Error>
        do {
            result = .success(try await body(fetching))
        } catch {
            result = .failure(error)
        }
        await fetching.downloads.shutdown()
        return try result.get()
    }

    /// Applies other settings to the downloads that begin from now on.
    func configure(_ settings: Settings) { downloads.configure(settings, proxies) }

    /// Waits for the end of a download, which is given up when the task is cancelled.
    func fetch(_ request: FetchRequest) async -> EndedDownload {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.continuations.withLock { $0[request.url] = continuation }
                downloads.begin([request])
            }
        } onCancel: {
            downloads.cancel(request.url)
        }
    }
}
