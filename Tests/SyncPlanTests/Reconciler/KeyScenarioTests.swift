// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("URLs that differ only in a signature are one icon")
struct KeyScenarioTests {
    private static func url(_ icon: Int, _ signature: Int) -> IconURL {
        IconURL("https://h.example/\(icon)?sig=\(signature)")
    }

    private static func scenario(_ change: (inout Settings) -> Void = { _ in }) throws -> AgentScenario {
        let host = try #require(HostPattern("h.example"))
        return AgentScenario {
            $0.keys = CacheKeys([CacheKeys.Rule(host: host, ignored: ["sig"])])
            change(&$0)
        }
    }

    /// Finishes all downloads, each with the image of its path.
    private static func settle(_ agent: inout AgentScenario) throws {
        while !agent.downloads.isEmpty {
            for url in agent.downloads.keys.sorted() {
                let word = "\(url)".split(separator: "?")[0]
                try agent.finish(
                    url, with: "\(word)", answer: Sample.response(etag: "\(word)", at: agent.now, from: "\(url)"))
            }
        }
        try agent.finishJobs()
    }

    @Test("a new signature costs no request and no eviction, and a refresh sends the validators to the newest URL")
    func rotation() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": (1...5).map { Self.url($0, 0) }])
        try Self.settle(&agent)
        #expect(agent.requests.count == 5)
        for signature in 1...20 {
            try agent.scan(["1.plist": (1...5).map { Self.url($0, signature) }])
            try agent.finishJobs()
            #expect(agent.downloads.isEmpty && agent.plan.status.icons.ready == 5)
            #expect(try agent.published("1.plist").allSatisfy { if case .ready = $0 { true } else { false } })
            try agent.pass(.seconds(600))
            try agent.finishJobs()
            if signature == 10 {
                try agent.restart()
                // Once more while the agent was not running.
                try agent.scan(["1.plist": (1...5).map { Self.url($0, signature + 1) }])
                try agent.finishJobs()
            }
        }
        #expect(agent.requests.count == 5 && agent.plan.status.icons.retired == 0)
        #expect(!agent.events.contains { $0.kind == .iconRetired })
        try agent.fetchAgain(Self.url(1, 20))
        let request = try #require(agent.downloads[Self.url(1, 20)])
        #expect(request.condition?.url == "\(Self.url(1, 0))")
    }

    @Test("a name in by-url/ of an icon that gets its image by its key waits for its document, as for room")
    func namesWait() throws {
        var agent = try Self.scenario()
        let (one, two) = (Self.url(1, 1), Self.url(1, 2))
        try agent.scan(["1.plist": [one]])
        try Self.settle(&agent)
        try agent.scan(["2.plist": [two]])
        try agent.finishJobs()
        try agent.handle(.request([two], isRefresh: true, isFull: true))
        try agent.finish(two, with: "y")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.documents.map(\.list) == ["1.plist"])
        try agent.refusePublication(room: 1)
        try agent.scan(["2.plist": [two, "https://i.example/"]], waits: false)
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.documents.map(\.list) == ["2.plist"])
        try agent.finishPublication()
        #expect(agent.disk.names[one] != Sample.image("y").sha256)
    }

    @Test(
        "a name waits for the document of the first list that shows the image before, also if that no longer names it",
        arguments: [false, true], ["0.plist", "2.plist"] as [ListName])
    func namesWaitForTheFirst(isNaming: Bool, other: ListName) throws {
        var agent = try Self.scenario()
        let (one, two) = (Self.url(1, 1), Self.url(1, 2))
        try agent.scan(["1.plist": [one], other: [one]])
        try agent.finish(one, with: "x")
        try agent.finishJobs()
        try agent.scan(["3.plist": [two]])
        try agent.finishJobs()
        try agent.handle(.request([two], isRefresh: true, isFull: true))
        try agent.finish(two, with: "y")
        let new = (1...12).map { IconURL("https://i.example/\($0)") }
        try agent.scan(["1.plist": isNaming ? [one] + new : new], waits: false)
        while agent.plan.book.publishing.window.deferred.isEmpty {
            while agent.publication == nil { try agent.passToNextWake() }
            let documents = try #require(agent.publication?.documents)
            if documents.contains(where: { $0.list == "1.plist" }) {
                try agent.refusePublication(room: documents.reduce(-1) { $0 + $1.json.utf8.count })
            } else {
                try agent.finishPublication()
            }
        }
        #expect(agent.plan.book.publishing.window.deferred == ["1.plist"])
        while try agent.published(other) != [.ready(Sample.image("y"))] {
            while agent.publication == nil { try agent.passToNextWake() }
            try agent.finishPublication()
        }
        #expect(agent.disk.names[one] == Sample.image(other < "1.plist" ? "y" : "x").sha256)
        try agent.disk.check()
    }

    @Test("the newest of several spellings is requested once; all share its image or failure")
    func spellings() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 1)]])
        try agent.scan(["2.plist": [Self.url(1, 2)], "3.plist": [Self.url(2, 1)]])
        // The first one is under way, and its image is that of both.
        #expect(agent.downloads[Self.url(1, 1)] != nil)
        try Self.settle(&agent)
        #expect(agent.plan.status.icons.ready == 3)
        let ready = agent.events.filter { $0.kind == .iconReady }.compactMap(\.url)
        #expect(ready.sorted() == [Self.url(1, 1), Self.url(1, 2), Self.url(2, 1)])
        let names = agent.requests.map(\.url)
        #expect(names.filter { $0 == Self.url(1, 1) || $0 == Self.url(1, 2) }.count <= 2)

        try agent.scan(["4.plist": [Self.url(3, 1)]])
        try agent.finish(Self.url(3, 1), .failed(.status(404)))
        try agent.scan(["5.plist": [Self.url(3, 2)]])
        try agent.finish(Self.url(3, 2), .failed(.status(404)))
        try agent.finishJobs()
        #expect(agent.plan.status.icons.failed == 2)
        #expect(agent.plan.report(on: Self.url(3, 2), now: agent.now)?.failure?.nextAttempt != nil)
        #expect(agent.plan.report(on: Self.url(3, 1), now: agent.now)?.failure?.nextAttempt == nil)
        // The newest goes: the one that remains is requested.
        try agent.scan(["5.plist": nil])
        while agent.plan.status.lists.contains(where: { $0.name == "5.plist" }) {
            try agent.passToNextWake()
            try agent.scan()
            try agent.finishJobs()
        }
        #expect(agent.downloads[Self.url(3, 1)] != nil)
        try Self.settle(&agent)
        #expect(agent.plan.status.icons.failed == 0)
    }

    @Test("a changed image is shown by all spellings, and a rule that is taken back loses no icon")
    func changes() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 1)], "2.plist": [Self.url(1, 2)]])
        try Self.settle(&agent)
        let newest = try #require(
            [Self.url(1, 1), Self.url(1, 2)].first {
                agent.plan.report(on: $0, now: agent.now)?.next != "with the newest URL of the same key"
            })
        try agent.fetchAgain(newest)
        try agent.finish(newest, with: "new")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("new"))])
        #expect(try agent.published("2.plist") == [.ready(Sample.image("new"))])

        try agent.handle(.configured(Settings()))
        #expect(agent.plan.status.icons.ready == 2)
        #expect(Set(agent.downloads.keys) == [Self.url(1, 1), Self.url(1, 2)])
        try agent.finish(Self.url(1, 1), with: "one")
        try agent.finish(Self.url(1, 2), with: "two")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("one"))])
        #expect(try agent.published("2.plist") == [.ready(Sample.image("two"))])
    }

    @Test("a list that did not change while the agent was not running keeps its images when it changes later")
    func restart() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 0)], "2.plist": [Self.url(2, 0)]])
        try Self.settle(&agent)
        try agent.restart()
        try agent.scan(["1.plist": [Self.url(1, 1)]])
        try agent.finishJobs()
        try agent.scan(["2.plist": [Self.url(2, 1)]])
        try agent.finishJobs()
        #expect(agent.requests.count == 2 && agent.plan.status.icons.ready == 2)
    }

    @Test("the last of several spellings in a list is requested, also after a restart")
    func order() throws {
        var agent = try Self.scenario()
        let last = (1...10).map { Self.url($0, 0) }
        let (first, second) = ((1...10).map { Self.url($0, 1) }, (1...10).map { Self.url($0, 2) })
        try agent.scan(["1.plist": first + last, "2.plist": second + last])
        try Self.settle(&agent)
        #expect(Set(agent.requests.map(\.url)).isDisjoint(with: first + second))
        try agent.scan(["2.plist": nil])
        try Self.settle(&agent)
        try agent.restart()
        try agent.scan()
        let known = agent.requests.count
        while agent.requests.count < known + last.count {
            try agent.passToNextWake()
            try Self.settle(&agent)
        }
        #expect(Set(agent.requests.dropFirst(known).map(\.url)) == Set(last))
    }

    @Test("a pinned URL has the image of its key, and gives it to the next one")
    func pins() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 0)]])
        try Self.settle(&agent)
        try agent.handle(.pin(url: Self.url(1, 1), isPinned: true))
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty && agent.plan.status.icons.ready == 2)
        try agent.handle(.pin(url: Self.url(2, 0), isPinned: true))
        try Self.settle(&agent)
        try agent.scan(["1.plist": [Self.url(1, 0), Self.url(2, 1)]])
        try agent.finishJobs()
        #expect(agent.requests.count == 2 && agent.plan.status.icons.ready == 4)
    }

    /// How a list names the URLs that another one names already.
    enum Repetition: CaseIterable {
        case another
        case renamed
        case afterRestart
    }

    @Test("no image of a retired URL replaces the one that a refresh brought since", arguments: Repetition.allCases)
    func refreshed(_ repetition: Repetition) throws {
        var agent = try Self.scenario()
        func urls(_ signature: Int) -> [IconURL] { (1...20).map { Self.url($0, signature) } }
        let new = (1...20).map { AppListDocument.State.ready(Sample.image("new \($0)")) }
        try agent.scan(["1.plist": urls(0)])
        try Self.settle(&agent)
        try agent.scan(["1.plist": urls(1)])
        try agent.finishJobs()
        try agent.pass(.seconds(10))
        try agent.handle(.request(urls(1), isRefresh: true, isFull: true))
        while let url = agent.downloads.keys.min() {
            try agent.finish(url, with: "new \(try #require(urls(1).firstIndex(of: url)) + 1)")
        }
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == new)
        let known = agent.requests.count
        switch repetition {
        case .another: break
        case .renamed: try agent.scan(["1.plist": nil])
        case .afterRestart:
            try agent.restart()
            try agent.scan()
        }
        try agent.scan(["2.plist": urls(1)])
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == new)
        #expect(try repetition == .renamed || agent.published("1.plist") == new)
        // An older signature comes back with the newest image.
        try agent.scan(["3.plist": urls(0)])
        try agent.finishJobs()
        #expect(try agent.published("3.plist") == new)
        #expect(agent.requests.count == known)
    }

    @Test("signatures that no document named leave nothing behind")
    func unpublished() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": (1...5).map { Self.url($0, 0) }])
        try Self.settle(&agent)
        for signature in 1...10 { try agent.scan(["1.plist": (1...5).map { Self.url($0, signature) }]) }
        try agent.finishJobs()
        for _ in 1...5 {
            try agent.pass(.seconds(600))
            try agent.finishJobs()
        }
        #expect(agent.plan.count(ofIconsIn: nil, .retired) == 0)
        #expect(agent.requests.count == 5 && agent.plan.status.icons.ready == 5)
        #expect(!agent.events.contains { $0.kind == .iconRetired })
    }

    @Test("a URL that failed with its group is requested once it is the newest")
    func newestAfterFailure() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 1)]])
        try agent.finish(Self.url(1, 1), .failed(.status(404)))
        try agent.scan(["2.plist": [Self.url(1, 2)]])
        try agent.finish(Self.url(1, 2), .failed(.status(404)))
        try agent.scan(["3.plist": [Self.url(1, 1)]])
        #expect(Array(agent.downloads.keys) == [Self.url(1, 1)])
        try Self.settle(&agent)
        #expect(agent.plan.status.icons.failed == 0 && agent.plan.status.icons.ready == 2)
    }

    @Test("at a start, an icon without an image gets that of its group, also if the rule is new")
    func missingAtStart() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url(1, 1)], "2.plist": [Self.url(1, 2)]])
        try agent.finish(Self.url(1, 1), with: "1")
        try agent.finish(Self.url(1, 2), .failed(.status(404)))
        try agent.finishJobs()
        agent.settings = try Self.scenario().settings
        try agent.restart()
        try agent.scan()
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 2 && agent.requests.count == 2)
    }

    @Test(
        "at a start, a name and an app keep the last image until that of the group is published, or if it is missing",
        arguments: [false, true])
    func lastImageAtStart(isMissing: Bool) throws {
        var agent = AgentScenario()
        let two = Self.url(1, 2)
        try agent.showLastImage("last", of: "https://i.example/", insteadOf: two)
        try agent.scan(["2.plist": [Self.url(1, 1)]])
        try agent.finish(Self.url(1, 1), with: "1")
        try agent.finishJobs()
        agent.settings = try Self.scenario().settings
        try agent.restart(losing: isMissing ? [Sample.image("1").sha256] : [])
        try agent.scan()
        #expect(agent.disk.names[two] == Sample.image("last").sha256)
        try agent.disk.check()
        if agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        let shown = isMissing ? "last" : "1"
        #expect(agent.disk.names[two] == Sample.image(shown).sha256)
        #expect(try agent.published("1.plist") == [.ready(Sample.image(shown))])
    }

    @Test("a download that began before a newer URL came passes no older image on")
    func olderDownload() throws {
        var agent = try Self.scenario()
        try agent.scan(["1.plist": [Self.url(1, 1)]])
        let began = agent.now
        agent.now = agent.now + .seconds(1)
        try agent.scan(["2.plist": [Self.url(1, 2)]])
        try agent.finish(Self.url(1, 2), with: "new")
        let old = Sample.response(etag: "old", at: began)
        try agent.finish(Self.url(1, 1), .image(agent.stage(Sample.image("old")), old))
        try agent.finishJobs()
        try agent.pass(.seconds(60))
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("new"))])
    }

    @Test("a list with many URLs of one key costs each the same, also when it leaves")
    func manyOfOneKey() throws {
        try expectLinearTime(from: 200) { count in
            var agent = try Self.scenario()
            try agent.scan(["1.plist": (0..<count).map { Self.url(1, $0) }])
            try Self.settle(&agent)
            try agent.scan(["1.plist": (0..<count).map { Self.url(1, count + $0) }])
            try agent.finishJobs()
            #expect(agent.plan.status.icons.ready == count && agent.requests.count == 1)
        }
    }

    private static let credential = Credential(
        host: "h.example", lists: ["private.plist"], proof: .bearer(Secret("t")))

    @Test(
        "of several spellings, the one of a list with a credential is requested, whichever is newer",
        arguments: [true, false])
    func credentials(isNewer: Bool) throws {
        var agent = try Self.scenario { $0.credentials = Credentials([Self.credential]) }
        let (own, other) = (Self.url(1, 1), Self.url(1, 2))
        try agent.scan([isNewer ? "other.plist" : "private.plist": [isNewer ? other : own]])
        try agent.scan([isNewer ? "private.plist" : "other.plist": [isNewer ? own : other]])
        if isNewer { try agent.finish(other, .failed(FetchFailure(.authRefused, "no credential", .refused))) }
        #expect(Array(agent.downloads.keys) == [own])
        #expect(agent.downloads[own]?.lists == ["private.plist"])
        try Self.settle(&agent)
        #expect(agent.plan.status.icons.ready == 2)
        try agent.restart()
        try agent.scan()
        try agent.finishJobs()
        try agent.fetchAgain(own)
        #expect(Array(agent.downloads.keys) == [own])
        try Self.settle(&agent)

        // Without the credential, the newest is requested; with it, the other one again.
        func next(_ url: IconURL) -> String? { agent.plan.report(on: url, now: agent.now)?.next }
        agent.settings.credentials = Credentials()
        try agent.handle(.configured(agent.settings))
        try Self.settle(&agent)
        // After the restart, the list that is last by name counts.
        #expect(next(other) == "with the newest URL of the same key")
        agent.settings.credentials = Credentials([Self.credential])
        try agent.handle(.configured(agent.settings))
        try Self.settle(&agent)
        #expect(next(other) == "with the URL of the same key that a list with a credential names")
        // Also once the list with the credential names another one, or none.
        try agent.scan(["private.plist": [Self.url(1, 3)]])
        #expect(next(other) == "with the URL of the same key that a list with a credential names")
        try agent.scan(["other.plist": [other, own, Self.url(1, 3)], "private.plist": [Self.url(2, 1)]])
        #expect(next(other) == "with the newest URL of the same key" && next(Self.url(1, 3)) != next(other))
    }

    @Test("a newer URL shares the failure of the one that a list with a credential names", arguments: [404, 401])
    func failureWithCredential(status: Int) throws {
        var agent = try Self.scenario { $0.credentials = Credentials([Self.credential]) }
        try agent.scan(["private.plist": [Self.url(1, 1)]])
        try agent.finish(Self.url(1, 1), .failed(.status(status)))
        try agent.scan(["other.plist": [Self.url(1, 2)]])
        #expect(agent.downloads.isEmpty)
        #expect(agent.plan.status.icons.failed == 2 && agent.plan.status.downloads.waiting == 1)
    }

    @Test("a URL that the list with the credential no longer names is not requested any more, if another one is newer")
    func credentialGone() throws {
        var agent = try Self.scenario {
            $0.credentials = Credentials([Self.credential])
            $0.fetch.concurrency = 1
        }
        try agent.scan(["0.plist": ["https://busy.example/0"]])
        try agent.scan(["private.plist": [Self.url(1, 1)], "z.plist": [Self.url(1, 1)]])
        try agent.scan(["other.plist": [Self.url(1, 2)]])
        #expect(agent.plan.status.downloads.queued == 1)
        try agent.scan(["private.plist": [Self.url(2, 1)]])
        #expect(agent.plan.status.downloads.queued == 2)
        try Self.settle(&agent)
        #expect(Set(agent.requests.dropFirst().map(\.url)) == [Self.url(1, 2), Self.url(2, 1)])
    }

    @Test("many URLs of one key cost each the same where lists with a credential name some of them")
    func manyWithCredential() throws {
        try expectLinearTime(from: 300) { count in
            var agent = try Self.scenario { $0.credentials = Credentials([Self.credential]) }
            try agent.scan(["private.plist": (0..<count / 2).map { Self.url(1, $0) }])
            try agent.scan(["other.plist": (0..<count).map { Self.url(1, $0) }])
            #expect(Array(agent.downloads.keys) == [Self.url(1, count / 2 - 1)])
            try Self.settle(&agent)
            try agent.scan(["private.plist": (0..<count / 2).map { Self.url(1, count + $0) }])
            try agent.finishJobs()
            try agent.fetchAgain(Self.url(1, count + count / 2 - 1))
            try agent.finish(Self.url(1, count + count / 2 - 1), .failed(.status(404)))
            try agent.scan(["other.plist": nil])
            try agent.finishJobs()
            #expect(agent.requests.count == 2)
        }
    }

    @Test("a group has its icons in the order in which they were retired, and then named last")
    func groups() {
        var groups = KeyGroups()
        for (url, key) in [("a", "k"), ("b", "k"), ("c", "k"), ("a", "k"), ("x", "l")] as [(IconURL, IconURL)] {
            groups.add(url, key: key, .named)
        }
        #expect(groups.shared == [["b", "c", "a"]] && groups.others(of: "c") == ["b", "a"])
        for url in ["d", "b"] as [IconURL] { groups.add(url, key: "k", .named) }
        #expect(groups.shared == [["c", "a", "d", "b"]])
        groups.rank(["d": .retired, "b": .retired, "a": .named])
        #expect(groups.shared == [["d", "b", "c", "a"]])
        groups.add("c", key: "k", .credentialed)
        groups.add("e", key: "k", .named)
        #expect(groups.requested(for: "a")?.url == "c")
        groups.rank(["c": .named])
        #expect(groups.shared == [["d", "b", "a", "c", "e"]] && groups.requested(for: "y") == nil)
        groups.remove("e")
        groups.rank(["a": .retired])
        #expect(groups.shared == [["d", "b", "a", "c"]])
        #expect(groups.members(sharing: ["c", "x"]) == ["a", "b", "c", "d"])
    }
}
