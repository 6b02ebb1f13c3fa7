// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import Glibc
import SyncPlan
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

    @Test("a list may be larger than lists.maxBytes, and have more entries than lists.maxEntries")
    func large() async throws {
        let apps = (0..<100).map { number in
            AppListDocument.App(
                name: nil, icon: IconURL("http://e.org/\(number)?a&b"), download: nil, state: .pending)
        }
        let entries = try await entries(of: apps, ListLimits(maxBytes: ByteCount(2048), maxEntries: 99))
        #expect(entries.map(\.icon) == apps.map(\.icon))
    }

    /// Puts lists of an upstream in force.
    private static func publish(
        _ names: [ListName], of url: UpstreamURL, _ settings: Settings, in adopted: AdoptedLists
    ) throws {
        var lists: [ListName: Digest] = [:]
        for name in names {
            lists[name] = .of(name.text)
            try adopted.stage(Sample.document(name, apps: []), .of(name.text), of: url, in: settings.upstream)
        }
        #expect(try adopted.publish(lists, of: url, in: settings.upstream))
    }

    private static func names(_ adopted: AdoptedLists) throws -> [String] {
        try AdoptedLists.files(in: adopted.root).keys.map(\.text).sorted()
    }

    @Test(
        "lists of an upstream that left the settings stay until the manifests of all others were read",
        arguments: [false, true], [false, true])
    func replaced(isSigned: Bool, isRestarted: Bool) async throws {
        try await withTemporaryFolder { folder in
            let urls = try ["old", "new", "other"].map { try #require(UpstreamURL("http://\($0).example/")) }
            var generator = SystemRandomNumberGenerator()
            let key = SecretKey(using: &generator).publicKey
            var settings = Settings()
            settings.upstream.lists = [try #require(ListPattern("*.plist"))]
            settings.upstream.urls = [urls[0]]
            if isSigned { settings.upstream.publicKeys = [key] }
            var adopted = AdoptedLists(state: folder, settings)
            func configure() {
                if isRestarted { adopted = AdoptedLists(state: folder, settings) } else { adopted.configure(settings) }
            }
            try Self.publish(["a.plist", "b.plist"], of: urls[0], settings, in: adopted)
            for _ in 1...2 {
                settings.upstream.urls = [urls[1], urls[2]]
                configure()
                #expect(try Self.names(adopted) == ["a.plist", "b.plist"])
                settings.upstream.urls = [urls[0]]
                configure()
                #expect(try Self.names(adopted) == ["a.plist", "b.plist"])
            }
            settings.upstream.urls = [urls[1], urls[2]]
            configure()
            try Self.publish(["c.plist"], of: urls[2], settings, in: adopted)
            #expect(try Self.names(adopted) == ["a.plist", "b.plist", "c.plist"])
            try Self.publish(["b.plist"], of: urls[1], settings, in: adopted)
            #expect(try Self.names(adopted) == ["b.plist", "c.plist"])

            // What no signature has does not count once one is required.
            settings.upstream.urls = [urls[0]]
            settings.upstream.publicKeys = [key]
            configure()
            #expect(try Self.names(adopted) == (isSigned ? ["b.plist", "c.plist"] : []))
            settings.upstream.lists = [try #require(ListPattern("c*.plist"))]
            configure()
            #expect(try Self.names(adopted) == (isSigned ? ["c.plist"] : []))
            settings.upstream.urls = []
            configure()
            #expect(try Self.names(adopted).isEmpty)
        }
    }

    @Test("documents are kept for their upstream, until it no longer names them or leaves the settings")
    func documents() async throws {
        try await withTemporaryFolder { folder in
            let urls = try ["one", "two"].map { try #require(UpstreamURL("http://\($0).example/")) }
            var settings = Settings()
            settings.upstream.urls = urls
            let adopted = AdoptedLists(state: folder, settings)
            let texts = ["a", "b"].map { Array($0.utf8) }
            for url in urls {
                for text in texts { adopted.keep(text, .of(text), of: url, in: settings.upstream) }
                #expect(texts.allSatisfy { adopted.document(.of($0), of: url) == $0 })
            }
            adopted.clean(keeping: [.of(texts[1])], of: urls[0], in: settings.upstream)
            #expect(adopted.document(.of(texts[0]), of: urls[0]) == nil)
            #expect(adopted.document(.of(texts[1]), of: urls[0]) == texts[1])
            #expect(adopted.document(.of(texts[0]), of: urls[1]) == texts[0])
            #expect(try Self.names(adopted).isEmpty)
            let former = settings.upstream
            settings.upstream.urls = [urls[0]]
            adopted.configure(settings)
            adopted.keep(texts[0], .of(texts[0]), of: urls[1], in: former)
            #expect(adopted.document(.of(texts[1]), of: urls[0]) == texts[1])
            #expect(texts.allSatisfy { adopted.document(.of($0), of: urls[1]) == nil })
        }
    }

    @Test("documents are written to new files only: a pipe, a link or a folder in their place is replaced, or stays")
    func occupied() async throws {
        try await withTemporaryFolder { folder in
            var settings = Settings()
            let url = try #require(UpstreamURL("http://one.example/"))
            settings.upstream.urls = [url]
            let adopted = AdoptedLists(state: folder, settings)
            func keep(_ text: String) -> String? {
                adopted.keep(Array(text.utf8), .of(text), of: url, in: settings.upstream)
                return adopted.document(.of(text), of: url).map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(keep("a") == "a")
            let names = try CacheFolder(adopted.root).names(in: ".")
            let documents = adopted.root.appending(try #require(names.first?.name))
            let other = folder.appending("other")
            for name in [".new", Digest.of("b").description] {
                let path = documents.appending(name).string
                #expect(mkfifo(path, 0o600) == 0)
                #expect(keep("b") == "b")
                unlink(documents.appending(Digest.of("b").description).string)
                #expect(symlink(other.string, path) == 0)
                #expect(keep("b") == "b")
                unlink(documents.appending(Digest.of("b").description).string)
            }
            #expect(access(other.string, F_OK) != 0)
            // Links are not read, either.
            #expect(rename(documents.appending(Digest.of("a").description).string, other.string) == 0)
            #expect(symlink(other.string, documents.appending(Digest.of("a").description).string) == 0)
            #expect(adopted.document(.of("a"), of: url) == nil)
            #expect(
                rename(documents.string, other.string + ".d") == 0
                    && symlink(other.string + ".d", documents.string) == 0)
            #expect(keep("c") == nil)
        }
    }

    @Test(
        "documents leave 5 % of the file system free, and at least 64 MiB",
        arguments: [
            (1000, 84, 20, true), (1000, 83, 20, false), (10_000, 520, 20, true), (10_000, 519, 20, false),
            (100, 63, 0, false),
        ])
    func room(total: Int, free: Int, document: Int, isKept: Bool) {
        let space = DiskSpace(folder: "/", bytes: DiskSpace.Amount(free: free << 20, total: total << 20))
        #expect(AdoptedLists.hasRoom(space, for: document << 20) == isKept)
        var full = space
        full.inodes = DiskSpace.Amount(free: 5, total: 100)
        #expect(!AdoptedLists.hasRoom(full, for: document << 20))
    }
}
