// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import FoundationEssentials
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Transitions of icons")
struct IconTransitionTests {
    private static let answer = IconRecord.Answer(
        response: PackedResponse(Sample.response(etag: "x")), freshUntil: Sample.start + .seconds(86_400))
    private static let failure = IconRecord.Failure(
        code: .http(404), message: "gone", attempts: 1, nextAttempt: Sample.start)
    private static let queued = IconEvent.queued(at: "https://h/a")

    /// Every state of an icon that a list names, and how it comes about.
    private static let states: [(name: String, events: [IconEvent])] = [
        ("pending", []),
        ("queued", [queued]),
        ("fetching", [queued, .started]),
        ("staged", [queued, .started, .staged("x")]),
        ("blocked", [queued, .started, .ended(.blocked, trail: nil)]),
        ("failed", [.failed(failure)]),
        ("missing", [.found("x"), .lost]),
        ("ready", [.found("x")]),
        ("ready, queued", [.found("x"), queued]),
        ("ready, fetching", [.found("x"), queued, .started]),
        ("ready, staged", [.found("x"), queued, .started, .staged("y")]),
        ("ready, blocked", [.found("x"), queued, .started, .ended(.blocked, trail: nil)]),
        ("stale", [.found("x"), .failed(failure)]),
    ]

    private static let events: [(name: String, event: IconEvent)] = [
        ("queued", queued),
        ("dequeued", .dequeued),
        ("started", .started),
        ("cancelled", .cancelled),
        ("ended: staged", .staged("y")),
        ("ended: confirmed", .ended(.confirmed(answer), trail: nil)),
        ("ended: contradicted", .ended(.contradicted(Sample.start), trail: nil)),
        ("ended: failed", .ended(.failed(failure), trail: nil)),
        ("ended: blocked", .ended(.blocked, trail: nil)),
        ("ended: discarded", .ended(.discarded, trail: nil)),
        ("blocked", .blocked),
        ("unstaged", .unstaged),
        ("published", .published("y")),
        ("confirmed", .confirmed(answer)),
        ("failed", .failed(failure)),
        ("found", .found("z")),
        ("lost", .lost),
        ("evicted", .evicted),
        ("purged", .purged),
        ("retried", .retried(Sample.start)),
        ("requested", .requested(Sample.start, isRefresh: true)),
        ("expires", .expires(Sample.start)),
    ]

    private static func name(of icon: IconRecord) -> String {
        let phase: String? =
            switch icon.phase {
            case .idle: nil
            case .queued: "queued"
            case .fetching: "fetching"
            case .staged: "staged"
            case .blocked: "blocked"
            }
        if icon.hasImage { return phase.map { "ready, \($0)" } ?? (icon.hasFailed ? "stale" : "ready") }
        return phase ?? (icon.hasFailed ? "failed" : icon.wasMissing ? "missing" : "pending")
    }

    /// What follows from an event in a state; `nil` if it cannot happen there.
    private static func cell(_ event: IconEvent, in events: [IconEvent]) -> String? {
        var icon = IconRecord([.named(by: ["a.plist"])] + events)
        guard icon.isPossible(event) else { return nil }
        let (before, facets) = (name(of: icon), IconFacets(icon))
        icon.apply(event)
        let after = name(of: icon)
        let isSame = IconFacets(icon).isSameInDocuments(as: facets)
        let follows = consequences(event, ofFirstImage: !facets.hasImage, changesDocuments: !isSame)
        return (after == before ? "·" : after) + (follows.isEmpty ? "" : " *\(follows)*")
    }

    private static func consequences(
        _ event: IconEvent, ofFirstImage isFirst: Bool, changesDocuments: Bool = true
    ) -> String {
        let consequences = event.consequences(ofFirstImage: isFirst)
        return [
            consequences.documents && changesDocuments ? "doc" : nil, consequences.memo ? "memo" : nil,
            consequences.decision ? "decide" : nil,
        ].compactMap(\.self).joined(separator: " ")
    }

    private static var table: String {
        let heads = states.map(\.name)
        var lines = ["| | \(heads.joined(separator: " | ")) |", "|---" + heads.map { _ in "|---" }.joined() + "|"]
        for (name, event) in events {
            let cells = states.map { cell(event, in: $0.events) ?? "" }
            lines.append("| \(name) | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("the states of icons have their documented names")
    func names() {
        for (name, events) in Self.states {
            #expect(Self.name(of: IconRecord([.named(by: ["a.plist"])] + events)) == name)
        }
    }

    @Test("an article has the table of events and states; GOLDEN=write writes it anew")
    func article() throws {
        let project = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let path = project + "/Sources/SyncAgent/SyncAgent.docc/IconTransitions.md"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let begin = "<!-- icon table -->\n", end = "<!-- end of icon table -->\n"
        let parts = text.components(separatedBy: begin)
        let rest = try #require(parts.last?.components(separatedBy: end))
        try #require(parts.count == 2 && rest.count == 2)
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            return try Data((parts[0] + begin + Self.table + end + rest[1]).utf8).write(to: URL(filePath: path))
        }
        #expect(rest[0] == Self.table, "write it with GOLDEN=write")
    }

    @Test("events that the table lacks have their consequences, too")
    func others() {
        let others: [(consequences: String, events: [IconEvent])] = [
            (
                "",
                [
                    .listed(by: "a.plist", alone: ["a.plist"]), .named(by: ["a.plist"]), .unnamed(by: "a.plist"),
                    .expected([], by: "a.plist"), .scheduled(nil), .lacking(nil), .awaited,
                    .remembered(nil, freshUntil: nil, nil, nil),
                ]
            ),
            ("doc memo", [.withdrawn]),
            ("doc memo decide", [.inherited(Sample.id("z"), nil, freshUntil: Sample.start)]),
        ]
        for (consequences, events) in others {
            for event in events {
                #expect(Self.consequences(event, ofFirstImage: true) == consequences, "\(event)")
                #expect(Self.consequences(event, ofFirstImage: false) == consequences, "\(event)")
            }
        }
    }

    @Test("events of failures and recoveries are emitted once, and only for icons that lists name")
    func news() {
        func news(_ events: [IconEvent], isNamed: Bool = true) -> AgentEvent? {
            let icon = IconRecord((isNamed ? [.named(by: ["a.plist"])] : []) + events.dropLast())
            return events.last.flatMap { icon.news(of: $0, at: "u", WallClock(start: Sample.start)) }
        }
        let other = IconRecord.Failure(code: .http(500), message: "", attempts: 1, nextAttempt: nil)
        #expect(news([.failed(Self.failure)]) == .iconFailed("u", Self.failure))
        #expect(news([.failed(Self.failure), .failed(Self.failure)]) == nil)
        #expect(news([.failed(Self.failure), .failed(other)]) == .iconFailed("u", other))
        #expect(news([.found("x"), .failed(Self.failure)]) == .iconStale("u", Self.failure))
        #expect(news([.found("x"), .failed(Self.failure), .confirmed(Self.answer)]) == .iconFresh("u"))
        #expect(news([.found("x"), .confirmed(Self.answer)]) == nil)
        #expect(
            news([Self.queued, .started, .staged("x"), .published("x")]) == .iconReady("u", bytes: 101, generation: 1))
        #expect(
            news([.found("x"), Self.queued, .started, .staged("y"), .published("y")])
                == .iconChanged("u", bytes: 101, generation: 1))
        #expect(news([Self.queued, .started, .staged("x"), .published("x")], isNamed: false) == .iconRetired("u"))
        #expect(news([.failed(Self.failure)], isNamed: false) == nil)
    }
}
