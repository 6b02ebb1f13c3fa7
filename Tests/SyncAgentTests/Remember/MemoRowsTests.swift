// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import Fleet
@testable import SyncAgent

/// What agents have stored must be read by later ones: if a text here changes, databases need a new version.
@Suite("The rows of the state database")
struct MemoRowsTests {
    private static let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    private static let time = Timestamp(sinceEpoch: .milliseconds(1_795_000_000_001))

    private static let rows = [
        ("icon", "https://a.example/", "[ null, null, null, null, null ]"),
        (
            "icon", "https://b.example/",
            """
            [ "\(digest)", 1795000000001, \
            [ 200, "", "etag: \\"x\\"\\n", 1795000000001, 1795000000001 ], \
            [ "http-503", "the server answered 503", 3, null ], \
            [ { "url": "", "status": 302, "allowedBy": "network.allow", "proxy": null }, \
            { "url": "https://c.example/", "status": null, "allowedBy": null, "proxy": "p.example:1" } ] ]
            """
        ),
        ("icon", "https://c.example/", "[ null, 0, [ 206, null, \"\", 0, 0 ], [ \"dns\", \"\", 1, 0 ], null ]"),
        ("list", "a.plist", #"{"list":"a.plist","rules":"0.1.0\nicon","sha256":"\#(digest)"}"#),
        (
            "origin", "https://a.example",
            #"{"health":{"askedUntil":-62167219200000,"failures":5,"waitsUntil":1795000000001},"#
                + #""origin":"https://a.example"}"#
        ),
        ("rejection", "b.plist", #"{"code":"empty-file","isKept":true,"list":"b.plist","message":"empty"}"#),
        ("render", digest, #"{"failure":{"code":"render-failed","message":"it died"},"image":"\#(digest)"}"#),
        (
            "values", "",
            #"{"values":{"folder":{"device":18446744073709551615,"fileSystem":1,"handle":[0,255]},"isPaused":true,"#
                + #""newestGeneration":7,"upstreams":[{"generation":9,"published":1795000000001,"sha256":"\#(digest)","#
                + #""url":"https://u.example"}]}}"#
        ),
    ]

    private static var changes: MemoChanges {
        let response = StoredResponse(
            url: "https://b.example/", fields: HTTPFields([("etag", "\"x\"")]), requestTime: time, responseTime: time)
        let trail = FetchTrail([
            FetchTrail.Hop(url: "", status: 302, allowedBy: "network.allow", proxy: nil),
            FetchTrail.Hop(url: "https://c.example/", status: nil, allowedBy: nil, proxy: "p.example:1"),
        ])
        let start = Timestamp(sinceEpoch: .zero)
        var changes = MemoChanges(remembered: [
            IconMemo(url: "https://a.example/", image: nil, freshUntil: .distantPast, failure: nil),
            IconMemo(
                url: "https://b.example/", image: Digest(hex: digest), packedResponse: PackedResponse(response),
                freshUntil: time,
                failure: .init(code: .http(503), message: "the server answered 503", attempts: 3, nextAttempt: nil),
                trail: trail),
            IconMemo(
                url: "https://c.example/", image: nil,
                packedResponse: PackedResponse(
                    StoredResponse(status: 206, fields: HTTPFields(), requestTime: start, responseTime: start)),
                freshUntil: start,
                failure: .init(code: .fetch(.dns), message: "", attempts: 1, nextAttempt: start)),
        ])
        let health = OriginHealth(failures: 5, waitsUntil: time)
        let rejection = RejectionMemo(list: "b.plist", code: "empty-file", message: "empty", isKept: true)
        changes.lists["a.plist"] = ListMemo(list: "a.plist", sha256: .of("a"), rules: "0.1.0\nicon")
        changes.origins["https://a.example"] = OriginMemo(origin: "https://a.example", health: health)
        changes.rejections["b.plist"] = rejection
        changes.renderFailures[.of("a")] = RenderMemo(image: .of("a"), failure: RenderFailure(.failed, "it died"))
        changes.values = RememberedValues(
            isPaused: true, folder: FolderIdentity(fileSystem: 1, device: .max, handle: [0, 255]), newestGeneration: 7,
            upstreams: [UpstreamMemo(url: "https://u.example", published: time, generation: 9, sha256: .of("a"))])
        return changes
    }

    @Test("rows of the state database are written as they always were")
    func written() async throws {
        try await withTemporaryFolder { folder in
            let store = try StateStore(folder: folder, clock: AgentClock(), logger: .silent)
            try await store.apply(Self.changes)
            try await store.close()
            var rows: [[String]] = []
            try Database(folder.appending(StateStore.files[0])).run("SELECT kind, key, json FROM memos") {
                rows.append([$0.text(0), $0.text(1), $0.text(2)])
            }
            #expect(rows == Self.rows.map { [$0, $1, $2] })
        }
    }

    @Test("rows of the state database are read as they always were, those of holds and generations too")
    func read() async throws {
        try await withTemporaryFolder { folder in
            let clock = AgentClock()
            try await StateStore(folder: folder, clock: clock, logger: .silent).close()
            let database = try Database(folder.appending(StateStore.files[0]))
            for (kind, key, json) in Self.rows {
                try database.run("INSERT INTO memos VALUES (?, ?, ?)", [kind, key, json].map { Array($0.utf8) })
            }
            try database.execute(
                """
                INSERT INTO memos VALUES ('origin', 'https://b.example',
                    '{"health":{"failures":2,"waitsUntil":0},"origin":"https://b.example"}');
                INSERT INTO memos VALUES ('superseded', '4', '{"awake":0,"boot":"another","elapsed":300000}');
                UPDATE memos SET json = json_set(json, '$.holdAge', json('{"awake":0,"elapsed":3600000}'), '$.values.hold',
                    json('{"generation":5,"images":30,"isConfirmed":true,"since":0,"total":40}')) WHERE kind = 'values'
                """)
            try database.close()
            var found = try StateStore(folder: folder, clock: clock, logger: .silent).remembered
            let hold = try #require(found.values.hold)
            #expect((3600..<7200).contains((clock.now - hold.since).components.seconds))
            #expect(hold.generation == 5 && hold.images == 30 && hold.total == 40 && hold.isConfirmed)
            let superseded = try #require(found.superseded[4])
            #expect((300..<600).contains((clock.now - superseded).components.seconds))
            found.values.holds = []
            let changes = Self.changes
            #expect(Array(found.icons) == changes.remembered)
            #expect(changes.origins.values.allSatisfy { $0.map(found.origins.contains) == true })
            // Older versions do not say what an origin asked for.
            #expect(found.origins.count == 2 && found.origins.contains { $0.health.askedUntil == nil })
            #expect(found.lists == Array(changes.lists.values))
            #expect(found.rejections == Array(changes.rejections.values))
            #expect(found.renderFailures == Array(changes.renderFailures.values))
            #expect(found.values == changes.values)
        }
    }
}
