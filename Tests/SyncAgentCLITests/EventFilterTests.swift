// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The choice of events")
struct EventFilterTests {
    @Test(
        "events are chosen by kind and by list, also those of its icons; a gap always is",
        arguments: [
            ([], ["a.plist"], #""kind": "list-kept", "list": "a.plist""#, true),
            ([], ["a.plist"], #""kind": "list-kept", "list": "b.plist""#, false),
            ([], ["a.plist", "b.plist"], #""kind": "list-kept", "list": "b.plist""#, true),
            ([], ["a.plist"], #""kind": "icon-ready", "url": "https://h.example/a.png""#, true),
            ([], ["a.plist"], #""kind": "icon-ready", "url": "https://h.example/b.png""#, false),
            ([], ["a.plist"], #""kind": "icon-ready", "urlSHA256": "\#(EventFilterTests.long.hex)""#, true),
            ([], ["a.plist"], #""kind": "paused""#, false),
            (["icon-failed"], [], #""kind": "icon-failed", "url": "https://h.example/b.png""#, true),
            (["icon-failed"], [], #""kind": "icon-ready", "url": "https://h.example/a.png""#, false),
            (["icon-failed", "paused"], [], #""kind": "paused""#, true),
            (["icon-failed"], ["a.plist"], #""kind": "icon-failed", "url": "https://h.example/a.png""#, true),
            (["icon-failed"], ["a.plist"], #""kind": "icon-ready", "url": "https://h.example/a.png""#, false),
            (["icon-failed"], ["a.plist"], #""kind": "gap""#, true),
        ] as [([String], [ListName], String, Bool)])
    func choice(kinds: [String], lists: [ListName], members: String, isChosen: Bool) throws {
        let json = "{ \"id\": 7, \"time\": \"2026-11-21T12:00:00Z\", \(members), \"message\": \"\" }"
        let event = try JSONDecoder().decode(EventRecord.self, from: Data(json.utf8))
        var filter = EventFilter(kinds: kinds, lists: lists, cache: IconCache(at: "/nonexistent"))
        filter.icons = [Digest.of("https://h.example/a.png"), Self.long]
        #expect(filter.chooses(event) == isChosen)
        #expect(filter.chosen(of: [json, "no event"]) == (isChosen ? [json] : []))
    }

    @Test("an event of an icon is chosen once a generation names it, also the second one after it, and never twice")
    func newList() async throws {
        try await withTemporaryFolder { cache in
            var filter = EventFilter(kinds: [], lists: ["new.plist"], cache: IconCache(at: cache))
            func line(_ id: Int, _ icon: String) -> String {
                let members = #""kind": "icon-failed", "url": "\#(icon)", "message": """#
                return #"{ "id": \#(id), "time": "2026-11-21T12:00:00Z", \#(members) }"#
            }
            let old = Sample.document("old.plist", ["http://a/old": nil])
            try Sample.publish(1, [old], in: cache)
            #expect(filter.chosen(of: [line(1, "http://a/new"), line(2, "http://a/old")]) == [])
            try Sample.publish(2, [old], in: cache)
            #expect(filter.chosen(of: [line(3, "http://a/new")]) == [])
            try Sample.publish(3, [old, Sample.document("new.plist", ["http://a/new": nil])], in: cache)
            let chosen = filter.chosen(of: [line(4, "http://a/new")])
            #expect(chosen == [1, 3, 4].map { line($0, "http://a/new") })
            let longer = Sample.document("new.plist", ["http://a/new": nil, "http://a/old": nil])
            try Sample.publish(4, [longer], in: cache)
            #expect(filter.chosen(of: [line(5, "http://a/new")]) == [line(5, "http://a/new")], "2 is too old")
        }
    }

    /// The digest of a URL that is too long for an event.
    private static let long = Digest.of("https://h.example/" + String(repeating: "a", count: AgentEvent.longestURL))
}
