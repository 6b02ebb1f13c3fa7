// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Lists taken over from upstreams, as files")
struct AdoptedListsTests {
    /// What a follower with these limits reads of a list that an upstream published.
    private func entries(of apps: [AppListDocument.App], _ limits: ListLimits) async throws -> [AppEntry] {
        try await withTemporaryFolder { folder in
            let url = try #require(UpstreamURL("http://seeder.example/fleet/"))
            var settings = Settings()
            settings.upstream.urls = [url]
            settings.upstream.lists = [try #require(ListPattern("*.json"))]
            let adopted = AdoptedLists(state: folder, settings)
            let (digest, name) = (Digest.of("document"), ListName("x.json"))
            try adopted.stage(Sample.document(name, apps: apps), digest, of: url, in: settings.upstream)
            #expect(try adopted.publish([name: digest], of: url, in: settings.upstream))
            var scanner = ListScanner(
                folder: folder.appending("lists.d"), adopted: adopted.root,
                parser: ParseHelper(executable: BuiltProducts.path("syncagent-parse"), limits: limits),
                maxBytes: limits.maxBytes)
            try makeFolder(folder.appending("lists.d"))
            while true {
                let outcome = await scanner.scan()
                guard case .listed(_, _, let changed) = outcome.scan else { return [] }
                if outcome.unsettled.isEmpty { return try #require(changed[name]).verdict.get().entries }
            }
        }
    }

    @Test(
        "names and identities of a list are those of the upstream, whatever lists.identityKeys says",
        arguments: [["id"], ["name"], ["download"], ["icon"], ["uuid", "name"]])
    func identities(keys: [String]) async throws {
        let app = AppListDocument.App(
            name: "One", id: "1", icon: "http://e.org/1", download: "http://e.org/d", state: .pending)
        let other = AppListDocument.App(name: "Two", icon: "http://e.org/2", download: nil, state: .pending)
        let entries = try await entries(of: [app, other], ListLimits(identityKeys: keys))
        #expect(entries.map(\.name) == ["One", "Two"])
        #expect(entries.map(\.id) == ["1", nil])
        #expect(entries.first?.download == "http://e.org/d")
    }

    @Test("the file of a list may be larger than lists.maxBytes")
    func large() async throws {
        let apps = (0..<100).map { number in
            AppListDocument.App(
                name: nil, icon: IconURL("http://e.org/\(number)?a&b"), download: nil, state: .pending)
        }
        let entries = try await entries(of: apps, ListLimits(maxBytes: ByteCount(2048)))
        #expect(entries.map(\.icon) == apps.map(\.icon))
    }
}
