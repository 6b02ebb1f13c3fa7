// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import FoundationEssentials
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Events as text")
struct AgentEventTests {
    private static let failure = IconRecord.Failure(
        code: .http(404), message: "the server answered 404", attempts: 1, nextAttempt: Sample.start)

    /// One of each kind.
    private static let events: [AgentEvent] = [
        .agentStarted(version: "1.0"), .agentStopping, .listAccepted("a.plist", apps: 1, problems: 0),
        .listRejected("a.plist", .emptyFile), .listKept("a.plist", .emptyFile), .listRemoved("a.plist"),
        .iconReady("https://a.example/1", bytes: 1, generation: 3),
        .iconChanged("https://a.example/1", bytes: 2, generation: 4), .iconFailed("https://a.example/1", failure),
        .iconStale("https://a.example/1", failure), .iconFresh("https://a.example/1"),
        .iconKept("https://a.example/2", previous: "https://a.example/1"),
        .iconRetired("https://a.example/1"), .iconEvicted("https://a.example/1"),
        .iconNotRendered("https://a.example/1", RenderFailure(.unsupported, "image/tiff is not rendered")),
        .generationPublished(5, lists: 1, images: 2, endsFailure: true),
        .publicationFailed(reason: "it is full", isInDoubt: false),
        .downloadsBlocked(.diskFull, reason: "it is full"), .downloadsUnblocked,
        .renderingBlocked(reason: "it is not installed"), .renderingUnblocked, .paused, .resumed,
        .pinned("https://a.example/1"), .unpinned("https://a.example/1"), .muted(.icon("https://a.example/1")),
        .unmuted(.list("a.plist")), .evictionHeld(reason: "much at once"),
        .evictionSuspended(reason: "not mounted"), .evictionActive, .cacheHealed(.missingFiles, summary: "1 name"),
        .stateReplaced(.damaged, isKnown: false), .configurationReloaded(changed: ["fetch.concurrency"]),
        .configurationRejected(reason: "line 3: no value."),
        .upstreamChanged(UpstreamSample.first, .fresh, reason: ""),
        .upstreamChanged(UpstreamSample.first, .stale, reason: "it is old"),
        .upstreamChanged(UpstreamSample.first, .broken, reason: "it is silent"),
        .upstreamChanged(UpstreamSample.first, .refused, reason: "its manifest is older"),
        .upstreamUndelivered(UpstreamSample.first, .copyMismatch),
        .purged, .purgeFailed(PurgeReport(.failed, reason: "it is read-only", files: 2)),
    ]

    @Test("each kind of event is one line of JSON with a sentence, and reads back unchanged", arguments: events)
    func line(event: AgentEvent) throws {
        let line = event.line(id: 42, time: "2026-11-21T02:44:52Z")
        #expect(line.last == "\n" && line.count { $0.isNewline } == 1)
        let record = try JSONDecoder().decode(EventRecord.self, from: Data(line.utf8))
        #expect(record.id == 42 && record.time == "2026-11-21T02:44:52Z")
        #expect(record.kind == event.kind.word && record.code == event.code)
        #expect(record.list == event.list && record.url == event.url && record.generation == event.generation)
        #expect(record.message == event.message)
        #expect(record.message.last == "." && record.message.first?.isLowercase == (event.kind == .agentStarted))
    }

    @Test("there is an event of each kind but gaps, which only readers get")
    func kinds() {
        #expect(Self.events.map(\.kind) == AgentEvent.Kind.allCases.filter { $0 != .gap })
    }

    @Test("text from outside stays on its line and in its string")
    func hostile() throws {
        let name: ListName = "a\"\\\n\u{1}.plist"
        let line = AgentEvent.listRemoved(name).line(id: 1, time: "t")
        #expect(line.count { $0.isNewline } == 1)
        #expect(try JSONDecoder().decode(EventRecord.self, from: Data(line.utf8)).list == name)
    }

    @Test("a URL that is too long is given by its digest, and a long reason is cut")
    func long() throws {
        let url = IconURL("data:image/png;base64," + String(repeating: "A", count: AgentEvent.longestURL))
        let record = try JSONDecoder().decode(
            EventRecord.self, from: Data(AgentEvent.iconRetired(url).line(id: 1, time: "t").utf8))
        #expect(record.url == nil && record.urlSHA256 == Digest.of(url.text).hex)
        let reason = String(repeating: "é\u{1}", count: 100_000)
        let line = AgentEvent.publicationFailed(reason: reason, isInDoubt: false).line(id: 1, time: "t")
        #expect(line.utf8.count < 16_384)
    }

    @Test("a message has no query, user name or password of a URL")
    func secrets() {
        let url: IconURL = "https://user:secret@a.example/1?secret"
        for event in [AgentEvent.iconReady(url, bytes: 1, generation: 1), .iconFailed(url, Self.failure), .pinned(url)]
        {
            #expect(!event.message.contains("secret"))
        }
    }

    @Test(
        "a gap event says which events are missing, and readers continue after its number",
        arguments: [
            (EventGap(from: 3, through: 9, cause: .rotated), 9, "Events 3 to 9 are missing"),
            (EventGap(from: 3, through: 3, cause: .agentKilled), 3, "Event 3 is missing"),
            (EventGap(from: 3, through: 9, cause: .unknownPosition), 0, "Events 3 to 9 are missing"),
        ])
    func gap(gap: EventGap, id: Int, text: String) throws {
        let record = try JSONDecoder().decode(EventRecord.self, from: Data(gap.line(time: "t").utf8))
        #expect(record.id == id && record.kind == "gap" && record.code == gap.cause.rawValue)
        #expect(record.from == gap.from && record.through == gap.through && record.message.hasPrefix(text))
    }
}
