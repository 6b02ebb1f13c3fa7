// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Fleet
@testable import SyncAgent

@Suite("Polls of upstreams")
struct UpstreamPollerTests {
    private static let icon: IconURL = "https://a.example/1.png"

    /// A folder of files on a server that can misbehave.
    private struct Upstream: Sendable {
        var files: [String: [UInt8]]
        /// The fields of the response for the manifest.
        var fields = "ETag: \"1\"\r\n"
        /// The status of the responses with a file.
        var status = 200
        /// What is sent in place of a file.
        var replies: [String: [RawOrigin.Step]] = [:]

        let manifest: Manifest
        /// The paths of the documents, in the order of the lists.
        let documents: [String]
        var document: String { documents[0] }

        init(generation: Int = 1, published: Timestamp = AgentClock.wallTime, lists: Int = 1) {
            let apps = [AppListDocument.App(name: nil, icon: icon, download: nil, state: .pending)]
            let source = AppListDocument.Source(sha256: .of("list"), bytes: 4, modified: published)
            let names = (1...lists).map { ListName("\($0).plist") }
            let texts = names.map { AppListDocument(list: $0, source: source, apps: apps).text }
            documents = texts.map { CacheLayout.document(.of($0)) }
            let entries = texts.map { Manifest.List(sha256: .of($0), apps: 1, ready: 0, pending: 0, failed: 0) }
            manifest = Manifest(
                generation: generation, published: Timestamp("\(published)") ?? published,
                lists: Dictionary(uniqueKeysWithValues: zip(names, entries)))
            files = Dictionary(uniqueKeysWithValues: zip(documents, texts))
            files["manifest.json"] = manifest.text
        }

        mutating func sign(with key: SecretKey) {
            files[CacheLayout.signature(.of(manifest.text))] = key.sign(manifest.text, trustedComment: "test").text
        }

        func steps(for request: RawOrigin.Request) -> [RawOrigin.Step] {
            let path = String(request.target.dropFirst("/fleet/".count))
            if let reply = replies[path] { return reply }
            if request.head.contains("If-None-Match: \"1\"") { return [.send("HTTP/1.1 304 x\r\n\r\n")] }
            guard let bytes = files[path] else { return [.send("HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")] }
            let fields = path == "manifest.json" ? fields : ""
            return [.send("HTTP/1.1 \(status) x\r\n\(fields)Content-Length: \(bytes.count)\r\n\r\n"), .send(bytes)]
        }
    }

    /// Looks at an upstream, again after each answer that was accepted; beside so many images that do not come.
    ///
    /// With `restart`, each poll is that of an agent that has only its state folder in common with those before.
    private func poll(
        _ upstreams: [Upstream], images: Int = 0, keys: [PublicKey] = [], accepted: UpstreamMemo? = nil,
        limits: UpstreamPoller.Limits = UpstreamPoller.Limits(),
        _ change: (inout Settings) -> Void = { _ in }, restart: (@Sendable (CacheFolder) throws -> Void)? = nil
    ) async throws -> (outcomes: [UpstreamAnswer.Outcome], requests: Int) {
        let current = Mutex(upstreams[0])
        let (begun, end) = (Tally(), Gate())
        defer { end.open() }
        return try await RawOrigin.run { request in
            guard request.target.hasPrefix("/fleet/") else {
                begun.add("image")
                return [.wait(end)]
            }
            return current.withLock { $0 }.steps(for: request)
        } _: { origin in
            let url = try #require(UpstreamURL(origin.baseURL + "/fleet/"))
            var settings = Settings()
            settings.upstream.urls = [url]
            // So long that a busy machine does not meet them.
            settings.upstream.connectTimeout = .seconds(60)
            settings.upstream.idleTimeout = .seconds(60)
            settings.upstream.totalTimeout = .seconds(240)
            change(&settings)
            return try await withTemporaryFolder { folder in
                let cache = try CacheFolder(folder)
                try cache.makeFolder(CacheLayout.staging, mode: .ownerReadWriteExecute)
                let staging = Staging(cache, staged: StagedImages(), reserve: settings.cache.minFree)
                let downloads = Downloads(settings: settings, staging: staging, clock: AgentClock()) { _ in }
                let icons = (0..<images).map { IconURL("\(origin.baseURL)/\($0).png") }
                downloads.begin(try icons.map { FetchRequest(trying: $0, from: try IconSource($0)) })
                try await begun.reach(min(images, settings.fetch.perHost))
                var outcomes: [UpstreamAnswer.Outcome] = []
                var known = accepted
                var validators: Validators?
                var index: UpstreamIndex?
                var found: [Digest: UpstreamDocument] = [:]
                var rules = settings.upstream
                rules.publicKeys = keys
                for upstream in upstreams {
                    current.withLock { $0 = upstream }
                    var poller = UpstreamPoller(downloads: downloads, limits: limits)
                    if let restart {
                        (validators, index, found) = (nil, nil, [:])
                        poller.adopted = AdoptedLists(state: folder, settings)
                        try restart(cache)
                    }
                    let answer = await poller.poll(
                        UpstreamPoll(
                            url: url, validators: validators, accepted: known, index: index, settings: rules,
                            found: found))
                    outcomes.append(answer.outcome)
                    if case .accepted(let contents) = answer.outcome {
                        (known, validators, index) = (contents.memo, contents.validators, contents.index)
                    } else if case .failed(_, let documents) = answer.outcome {
                        found = documents
                    }
                }
                await downloads.shutdown()
                return (outcomes, origin.requests.total)
            }
        }
    }

    @Test("a manifest does not wait for images that hold all connections to its server, or wait for one")
    func besideImages() async throws {
        let (outcomes, requests) = try await poll([Upstream()], images: 4) {
            $0.fetch.perHost = 2
            $0.network.allow = AddressRange("127.0.0.0/8").map { [$0] } ?? []
            $0.upstream.totalTimeout = .seconds(30)
        }
        #expect(Self.code(of: outcomes.first) == nil && requests == 4, "\(requests) requests, \(outcomes)")
    }

    @Test(
        "a manifest is accepted with its documents, over loopback without any other setting, also if a proxy changed them",
        arguments: [200, 203])
    func accepted(status: Int) async throws {
        var upstream = Upstream()
        upstream.status = status
        let (outcomes, requests) = try await poll([upstream])
        guard case .accepted(let contents)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(contents.memo.generation == 1 && contents.changes == [Self.icon] && requests == 2)
        #expect(contents.index[Self.icon] == .pending && contents.index["https://a.example/2.png"] == nil)
    }

    @Test(
        "an upstream whose documents are too much is refused, also if it has got so bit by bit",
        arguments: [(3, 1 << 20, nil), (2, 1 << 20, "manifest-damaged"), (3, 400, "manifest-damaged")]
            as [(Int, Int, String?)])
    func tooMuch(entries: Int, bytes: Int, code: String?) async throws {
        var limits = UpstreamPoller.Limits()
        (limits.entries, limits.bytes) = (entries, bytes)
        let now = AgentClock.wallTime
        var first = Upstream(published: now, lists: 1)
        var second = Upstream(generation: 2, published: now, lists: 3)
        (first.fields, second.fields) = ("", "")
        let (outcomes, _) = try await poll([first, second], limits: limits)
        #expect(Self.code(of: outcomes.first) == nil)
        #expect(Self.code(of: outcomes.last) == code)
    }

    @Test("documents that polls which failed keep count for the next, and no more of them are kept than fit")
    func kept() async throws {
        let now = AgentClock.wallTime
        /// As many documents as are requested at once, of which so many are there.
        func upstream(having count: Int) -> Upstream {
            var upstream = Upstream(published: now, lists: 4)
            for document in upstream.documents.dropFirst(count) { upstream.files[document] = nil }
            upstream.fields = ""
            return upstream
        }
        func found(_ counts: [Int], _ limits: UpstreamPoller.Limits) async throws -> (kept: [Int], codes: [String?]) {
            let outcomes = try await poll(counts.map(upstream), limits: limits).outcomes
            let kept = outcomes.map { outcome in
                guard case .failed(_, let found) = outcome else { return -1 }
                return found.count
            }
            return (kept, outcomes.map(Self.code))
        }
        let whole = upstream(having: 4)
        let size = try #require(whole.files[whole.document]).count
        var limits = UpstreamPoller.Limits()
        limits.bytes = 3 * size + 10
        #expect(try await found([2, 4], limits).codes == ["manifest-incomplete", "manifest-damaged"])
        limits = UpstreamPoller.Limits()
        #expect(try await found([3, 2, 4], limits).kept == [3, 3, -1])
        limits.keptBytes = 2 * size + 10
        #expect(try await found([3, 1, 4], limits).kept == [2, 2, -1])
    }

    @Test("documents are kept over a poll whose manifest does not come, or is refused", arguments: [nil, "<html>"])
    func keptWithoutManifest(text: String?) async throws {
        let now = AgentClock.wallTime
        var first = Upstream(published: now, lists: 2)
        first.files[first.documents[1]] = nil
        first.fields = ""
        var second = first
        second.files["manifest.json"] = text.map { Array($0.utf8) }
        var third = Upstream(published: now, lists: 2)
        third.fields = ""
        // The first document is not requested again.
        third.files[third.documents[0]] = nil
        let (outcomes, _) = try await poll([first, second, third])
        #expect(outcomes.map(Self.code).last == .some(nil), "\(outcomes)")
    }

    @Test("documents in another layout than that of agents are read up to 4 MiB", arguments: [1, 5])
    func otherLayout(mebibytes: Int) async throws {
        for isManifest in [true, false] {
            var upstream = Upstream()
            let filler = [UInt8](repeating: 0x20, count: mebibytes << 20)
            if isManifest {
                upstream.files["manifest.json"]? += filler
            } else {
                let text = try #require(upstream.files[upstream.document]) + filler
                let list = try #require(upstream.manifest.lists.first)
                var manifest = upstream.manifest
                manifest.lists[list.key]?.sha256 = .of(text)
                upstream.files["manifest.json"] = manifest.text
                upstream.files[CacheLayout.document(.of(text))] = text
            }
            let (outcomes, _) = try await poll([upstream])
            #expect(Self.code(of: outcomes.first) == (mebibytes == 1 ? nil : "manifest-damaged"), "\(outcomes)")
        }
    }

    /// The documents in the state folder.
    private static func kept(_ state: CacheFolder) throws -> [String] {
        guard try state.status("upstream") != nil else { return [] }
        return try state.names(in: "upstream").flatMap { folder in
            try state.names(in: "upstream/\(folder.name)").map { "upstream/\(folder.name)/\($0.name)" }
        }
    }

    @Test("documents are not requested again after a restart, but those that changed since", arguments: [0, 1])
    func restarted(new: Int) async throws {
        let now = AgentClock.wallTime
        let upstreams = [2, 2 + new].map { Upstream(generation: $0, published: now, lists: $0) }
        let (outcomes, requests) = try await poll(upstreams, restart: { _ in })
        guard case .accepted(let contents)? = outcomes.last else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(contents.index.documents.count == 2 + new && requests == 3 + 1 + new)
    }

    @Test("a document that is damaged on disk is requested again, and replaced")
    func damaged() async throws {
        let upstream = Upstream(lists: 2)
        let restarts = Tally()
        let (outcomes, requests) = try await poll(
            [upstream, upstream, upstream],
            restart: { state in
                restarts.add("")
                if restarts.total == 2 {
                    let path = try #require(try Self.kept(state).first)
                    try state.discard(path)
                    try state.write(Array("x".utf8), to: path, mode: .ownerReadWrite)
                }
            })
        #expect(outcomes.allSatisfy { if case .accepted = $0 { true } else { false } })
        #expect(requests == 3 + 2 + 1)
    }

    @Test("a document that cannot be read is not kept")
    func unreadable() async throws {
        var upstream = Upstream()
        upstream.files[upstream.document] = Array("{}".utf8)
        let count = Tally()
        let (outcomes, requests) = try await poll(
            [upstream, upstream],
            restart: { state in
                for _ in try Self.kept(state) { count.add("") }
            })
        #expect(outcomes.allSatisfy { if case .failed = $0 { true } else { false } })
        #expect(requests == 4 && count.total == 0)
    }

    @Test("a manifest without a signature is not read")
    func unread() async throws {
        var upstream = Upstream()
        upstream.files["manifest.json"] = Array("<html>".utf8)
        var generator = SystemRandomNumberGenerator()
        let key = SecretKey(using: &generator).publicKey
        let (outcomes, requests) = try await poll([upstream], keys: [key])
        #expect(Self.code(of: outcomes.first) == "manifest-signature" && requests == 2)
    }

    @Test("a manifest that is known is not sent again")
    func unchanged() async throws {
        let upstream = Upstream()
        let (outcomes, requests) = try await poll([upstream, upstream])
        guard case .unchanged? = outcomes.last else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(requests == 3, "manifest, document, manifest")
    }

    @Test(
        "an upstream that is not accepted has a code that says why",
        arguments: [
            ("manifest.json", "<html>", "manifest-damaged"), ("lists", "{}", "manifest-incomplete"),
            ("lists", nil, "manifest-incomplete"), ("manifest.json", nil, "http-404"),
        ] as [(String, String?, String)])
    func refused(path: String, text: String?, code: String) async throws {
        var upstream = Upstream()
        let path = path == "lists" ? upstream.document : path
        upstream.files[path] = text.map { Array($0.utf8) }
        let (outcomes, _) = try await poll([upstream])
        #expect(Self.code(of: outcomes.first) == code)
    }

    @Test(
        "an upstream that fails is given up within the limits of upstreams",
        arguments: [
            ("nothing", "timeout"), ("cut", "connection-closed"), ("500", "http-500"), ("401", "http-401"),
            ("302", "http-302"), ("long", "too-large"), ("gzip", "content-encoding"), ("404 in gzip", "http-404"),
            ("404 of 900 MB", "http-404"),
        ])
    func failing(kind: String, code: String) async throws {
        let steps: [RawOrigin.Step] =
            switch kind {
            case "nothing": [.wait(Gate())]
            case "cut": [.send("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx"), .close]
            case "long": [.send("HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\nx")]
            case "gzip": [.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx")]
            // A page for people, as servers send it.
            case "404 in gzip":
                [.send("HTTP/1.1 404 x\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx")]
            case "404 of 900 MB": [.send("HTTP/1.1 404 x\r\nContent-Length: 900000000\r\n\r\nx")]
            default: [.send("HTTP/1.1 \(kind) x\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")]
            }
        var upstream = Upstream()
        upstream.replies["manifest.json"] = steps
        let upstreams = [upstream]
        // On a busy machine, the request may not even arrive within a short limit.
        try await withGrowingTime(from: .milliseconds(300)) { limit in
            let (outcomes, requests) = try await poll(upstreams) {
                // Without the limits of upstreams, those of other downloads would apply.
                $0.fetch.idleTimeout = .seconds(3600)
                if kind == "nothing" { $0.upstream.idleTimeout = limit }
            }
            #expect(Self.code(of: outcomes.first) == code)
            if kind == "nothing", case .failed(let failure, _)? = outcomes.first {
                expectContains(failure.message, "upstream.idleTimeout")
            }
            #expect(requests <= 1, "a redirect is not followed")
            return requests == 1
        }
    }

    @Test("a manifest needs the signature of one of the keys, of which there may be several")
    func signatures() async throws {
        var generator = SystemRandomNumberGenerator()
        let (key, other) = (SecretKey(using: &generator), SecretKey(using: &generator))
        var signed = Upstream()
        signed.sign(with: key)
        for (upstream, keys, code) in [
            (signed, [key], nil), (signed, [other, key], nil), (signed, [other], "manifest-signature"),
            (Upstream(), [key], "manifest-signature"), (Upstream(), [], nil),
        ] as [(Upstream, [SecretKey], String?)] {
            let (outcomes, _) = try await poll([upstream], keys: keys.map(\.publicKey))
            #expect(Self.code(of: outcomes.first) == code)
        }
        var broken = signed
        let path = CacheLayout.signature(.of(signed.manifest.text))
        broken.files[path] = Array((broken.files[path] ?? []).reversed())
        let (outcomes, _) = try await poll([broken], keys: [key.publicKey])
        #expect(Self.code(of: outcomes.first) == "manifest-signature")
    }

    @Test("documents that came are not requested again because another one did not")
    func found() async throws {
        let whole = Upstream(lists: 6)
        var partial = whole
        partial.files[whole.documents[3]] = nil
        let (outcomes, requests) = try await poll([partial, whole])
        #expect(Self.code(of: outcomes.first) == "manifest-incomplete")
        guard case .accepted(let contents)? = outcomes.last else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(contents.index.documents.count == 6 && contents.changes == [Self.icon])
        // The manifest twice, each document once, and the missing one twice; those that were not begun come later.
        #expect(requests == 2 + 6 + 1)
    }

    @Test("an older manifest than the one accepted before is refused")
    func rollback() async throws {
        let now = AgentClock.wallTime
        let memo = UpstreamMemo(url: "", published: now, generation: 4, sha256: .of("4"))
        let (outcomes, requests) = try await poll(
            [Upstream(generation: 3, published: now + .seconds(-60))], accepted: memo)
        #expect(Self.code(of: outcomes.first) == "manifest-rollback")
        #expect(requests == 1, "its documents are not requested")
    }

    @Test(
        "a file that changed a moment ago has no validators",
        arguments: [(0, false), (1, false), (2, true), (100, true)])
    func validators(age: Int, isKnown: Bool) {
        let response = StoredResponse(
            fields: HTTPFields([
                ("Date", "Sat, 21 Nov 2026 00:05:0\(min(age, 9)) GMT"),
                ("Last-Modified", age > 9 ? "Sat, 21 Nov 2026 00:00:00 GMT" : "Sat, 21 Nov 2026 00:05:00 GMT"),
                ("ETag", "\"1\""),
            ]), requestTime: Timestamp(sinceEpoch: .seconds(1_795_000_000)),
            responseTime: Timestamp(sinceEpoch: .seconds(1_795_000_000)))
        #expect(UpstreamPoll.validators(of: response).isEmpty == !isKnown)
    }

    private static func code(of outcome: UpstreamAnswer.Outcome?) -> String? {
        guard case .failed(let failure, _)? = outcome else { return nil }
        return failure.code
    }
}
