// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Dispatch
import Fleet
import HTTPRules
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Folders as upstreams that hang")
struct HangingFolderTests {
    @Test("reads of a folder that hangs use a few threads")
    func threads() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFolder(folder)
            try cache.makeFolder(CacheLayout.staging, mode: .ownerReadWriteExecute)
            var settings = Settings()
            let url = try #require(UpstreamURL("file:///hanging/"))
            settings.upstream.urls = [url]
            settings.upstream.idleTimeout = .milliseconds(20)
            let reads = Mutex(0)
            let gate = DispatchSemaphore(value: 0)
            let downloads = Downloads(
                settings: settings, staging: Staging(cache, staged: StagedImages(), reserve: settings.cache.minFree),
                clock: AgentClock()
            ) { _ in }
            await downloads.setReader { _, _, _ in
                reads.withLock { $0 += 1 }
                gate.wait()
                return .missing
            }
            for _ in 0..<12 {
                let result = await downloads.document(CacheLayout.manifest, of: url, fields: [])
                guard case .failure(let failure) = result else { continue }
                #expect(failure.code == "timeout")
            }
            #expect(reads.withLock(\.self) == Downloads.hangingReads)
            for _ in 0..<Downloads.hangingReads { gate.signal() }
            await downloads.shutdown()
        }
    }
}

extension Downloads {
    fileprivate func setReader(_ reader: @escaping FileTransfer.Reader) { readFile = reader }
}
