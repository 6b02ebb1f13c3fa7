// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
package import HTTPRules
package import SystemPackage

/// Downloads icons as the agent would, to see the results, and keeps none of them.
package enum TrialDownloads {
    private static let concurrency = 8

    /// Downloads icons and reports each result as it arrives; `urls` must have no duplicates.
    ///
    /// Credentials for `list` are used. Large images are written to `folder` meanwhile, an empty folder that the caller
    /// removes.
    ///
    /// - Throws: ``FileError`` if the folder cannot be used.
    package static func run(
        _ urls: [IconURL], of list: ListName?, settings: Settings, proxies: ProxyPolicy, in folder: FilePath,
        report: @Sendable (EndedDownload) -> Void
    ) async throws {
        var settings = settings
        settings.fetch.concurrency = min(settings.fetch.concurrency, concurrency)
        let cache = try CacheFolder(folder)
        try cache.makeFolder(CacheLayout.staging, mode: .ownerReadWriteExecute)
        let staging = Staging(cache, staged: StagedImages(), reserve: settings.cache.minFree)
        let (ends, end) = AsyncStream.makeStream(of: EndedDownload.self)
        let downloads = Downloads(settings: settings, proxies: proxies, staging: staging, clock: AgentClock()) {
            for one in $0 { end.yield(one) }
        }
        var waiting = urls[...]
        var active = 0
        func begin() {
            while active < settings.fetch.concurrency, let url = waiting.popFirst() {
                let source: IconSource
                do throws(FetchFailure) {
                    source = try settings.network.source(of: url)
                } catch {
                    report(EndedDownload(url: url, .failed(error)))
                    continue
                }
                active += 1
                var request = FetchRequest(trying: url, from: source)
                request.lists = [list].compactMap(\.self)
                downloads.begin([request])
            }
        }
        begin()
        if active > 0 {
            for await one in ends {
                active -= 1
                if case .image(let image, _) = one.outcome { await staging.discard([image.name]) }
                report(one)
                begin()
                if active == 0 { break }
            }
        }
        await downloads.shutdown()
    }
}
