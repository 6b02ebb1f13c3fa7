// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("Icons that somebody wants requested now")
struct SelectionScenarioTests {
    private static let urls = (1...3).map { IconURL("https://h.example/\($0)") }
    private static let other: IconURL = "https://i.example/1"

    /// An agent of two lists, all of whose downloads failed for good or for a while.
    private static func failed(_ outcome: FetchOutcome) throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": urls, "2.plist": [other]])
        while !agent.downloads.isEmpty { try agent.finishAll(outcome) }
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty)
        return agent
    }

    @Test(
        "a retry requests failed icons, also those that failed for good",
        arguments: [
            (IconSelection(urls: [urls[0]]), [urls[0]]), (IconSelection(lists: ["2.plist"]), [other]),
            (IconSelection(urls: [urls[1]], lists: ["2.plist"]), [urls[1], other]),
            (IconSelection(failed: true), urls + [other]), (IconSelection(lists: ["none.plist"]), []),
        ] as [(IconSelection, [IconURL])],
        [FetchOutcome.failed(.status(404)), .failed(.status(410)), .failed(.timeout("60 s"))])
    func retry(choice: (IconSelection, [IconURL]), outcome: FetchOutcome) throws {
        let (selection, expected) = choice
        var agent = try Self.failed(outcome)
        let report = agent.plan.selected(by: selection).report
        #expect(report.unknown.isEmpty && agent.countDue(selection, isRefresh: false) == expected.count)
        #expect(report.missing == (selection.lists.contains("none.plist") ? ["none.plist"] : []))
        try agent.request(selection, isRefresh: false)
        #expect(agent.downloads.keys.sorted() == expected.sorted())
        // What is requested already is not requested again.
        #expect(agent.countDue(selection, isRefresh: false) == 0)
        for url in expected { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == expected.count)
    }

    @Test("a retry counts no icon that can never be requested")
    func refused() throws {
        let data: IconURL = "data:image/png;base64,AAAA"
        let refused: [IconURL] = ["ftp://h.example/1", "https://u:p@h.example/1", "https://h.example:70000/1", data]
        var agent = AgentScenario()
        try agent.scan(["1.plist": refused + [Self.other]])
        try agent.finish(data, .failed(FetchFailure.status(404).forGood))
        try agent.finish(Self.other, .failed(.status(404)))
        try agent.finishJobs()
        #expect(agent.plan.status.icons.failed == 5)
        #expect(agent.countDue(IconSelection(failed: true), isRefresh: false) == 1)
        #expect(agent.countDue(IconSelection(urls: refused), isRefresh: false) == 0)
    }

    @Test("a large selection has each icon once, in parts")
    func parts() throws {
        let agent = try Self.failed(.failed(.status(404)))
        let all = Self.urls + [Self.other]
        for selection in [
            IconSelection(failed: true), IconSelection(urls: all, lists: ["1.plist", "2.plist"], failed: true),
        ] {
            let selected = agent.plan.selected(by: selection)
            #expect(selected.report == SelectionReport())
            let parts = selected.parts(of: 3)
            #expect(parts.map(\.count) == [3, 1] && parts.joined().sorted() == all.sorted())
        }
        let nothing = agent.plan.selected(by: IconSelection(urls: ["https://none.example/"], lists: ["none.plist"]))
        #expect(nothing.report.unknown == ["https://none.example/"] && nothing.report.missing == ["none.plist"])
        #expect(agent.plan.selected(by: IconSelection()).parts(of: 3).isEmpty)
    }

    @Test(
        "a retry ends the backoff of an origin, and its waiting icons go on",
        arguments: [IconSelection(lists: ["1.plist"]), IconSelection(failed: true)])
    func origin(selection: IconSelection) throws {
        var agent = AgentScenario()
        let urls = (1...20).map { IconURL("https://h.example/\($0)") }
        try agent.scan(["1.plist": urls])
        while let url = agent.downloads.keys.min() { try agent.finish(url, .failed(.timeout("60 s"))) }
        #expect(agent.requests.count == 5 && agent.plan.status.downloads.waiting == 20)
        #expect(agent.countDue(selection, isRefresh: false) == 20)
        try agent.request(selection, isRefresh: false)
        #expect(!agent.downloads.isEmpty && agent.plan.book.downloads.origins.isEmpty)
        while let url = agent.downloads.keys.min() { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 20)
    }

    @Test("a retry requests no ready icon; a refresh requests it with its validator")
    func refresh() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.urls[0]: "x", Self.urls[1]: "y"]])
        let all = IconSelection(lists: ["1.plist"])
        #expect(agent.countDue(all, isRefresh: false) == 0)
        #expect(agent.countDue(all, isRefresh: true) == 2)
        try agent.request(all, isRefresh: false)
        #expect(agent.downloads.isEmpty)
        try agent.request(IconSelection(urls: [Self.urls[0], "https://none.example/"]), isRefresh: true)
        #expect(agent.downloads[Self.urls[0]]?.condition != nil && agent.downloads.count == 1)
        #expect(agent.downloads[Self.urls[0]]?.reason == .expired)
        try agent.finish(Self.urls[0], with: "z")
        try agent.finishJobs()
        #expect(agent.isOnDisk("z") && agent.plan.status.icons.ready == 2)
    }

    @Test("a retry or refresh does not end a pause")
    func paused() throws {
        var agent = try Self.failed(.failed(.status(404)))
        try agent.handle(.pause(Pause()))
        try agent.request(IconSelection(failed: true), isRefresh: false)
        #expect(agent.downloads.isEmpty)
        try agent.handle(.resume(nil))
        #expect(agent.downloads.count == 4)
    }

    @Test("a URL that no list names is not requested, and is said to be unknown")
    func unknown() throws {
        var agent = try Self.failed(.failed(.status(404)))
        let selection = IconSelection(urls: ["https://none.example/"])
        #expect(agent.plan.selected(by: selection).report.unknown == ["https://none.example/"])
        try agent.request(selection, isRefresh: true)
        #expect(agent.downloads.isEmpty)
    }
}

extension AgentScenario {
    private func icons(_ selection: IconSelection) -> [IconURL] {
        plan.selected(by: selection).parts(of: .max).flatMap(\.self)
    }

    fileprivate func countDue(_ selection: IconSelection, isRefresh: Bool) -> Int {
        plan.countDue(icons(selection), isRefresh: isRefresh)
    }

    fileprivate mutating func request(_ selection: IconSelection, isRefresh: Bool) throws {
        try handle(.request(icons(selection), isRefresh: isRefresh))
    }
}
