// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import IconCache
import Reports
import SystemPackage
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

    /// The digest of a URL that is too long for an event.
    private static let long = Digest.of("https://h.example/" + String(repeating: "a", count: AgentEvent.longestURL))
}
