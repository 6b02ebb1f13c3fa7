// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import Reports

@Suite("The verdict of the status")
struct StatusVerdictTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var sentence: String
        var codes: [String] = []
        var commands: [String] = []
        var change: @Sendable (inout StatusReport) -> Void = { _ in }

        var testDescription: String { name }

        var report: StatusReport {
            var report = StatusReport(state: .running)
            (report.generation, report.published, report.inSync) = (42, "2026-11-21T02:44:52Z", true)
            var list = StatusReport.List(name: "apps.plist", state: .ok)
            (list.apps, list.ready) = (1204, 1204)
            report.lists = [list]
            (report.icons.referenced, report.icons.ready) = (1204, 1204)
            report.failures = []
            change(&report)
            return report
        }
    }

    static let wells: [Row] = [
        Row(name: "all is well", sentence: "All 1,204 icons are up to date."),
        Row(
            name: "muted failures", sentence: "1,202 of 1,204 icons are up to date.", codes: ["muted"],
            commands: ["syncagent mute"]
        ) {
            ($0.icons.ready, $0.icons.failed, $0.muted) = (1202, 2, 1)
            fail(&$0, "http-404", icons: 2, example: "https://example.com/a.png", list: "apps.plist", message: "x")
            $0.failures[0].muted = 2
        },
        Row(
            name: "a muted list", sentence: "All 1,204 icons are up to date.", codes: ["muted"],
            commands: ["syncagent mute"]
        ) {
            ($0.lists[0].state, $0.lists[0].muted, $0.muted) = ("rejected", true, 1)
        },
        Row(
            name: "a muted stale icon", sentence: "All 1,204 icons are up to date.", codes: ["muted"],
            commands: ["syncagent mute"]
        ) {
            ($0.icons.stale, $0.muted) = (1, 1)
            var row = StatusReport.Failure(code: "dns", icons: 1, example: "https://a.b/c", list: nil, message: "x")
            row.muted = 1
            $0.refreshFailures = [row]
        },
        Row(name: "one icon", sentence: "The only icon is up to date.") { $0.icons.referenced = 1 },
        Row(name: "no lists", sentence: "There are no app lists: drop one into the lists folder.") {
            ($0.lists, $0.icons) = ([], StatusReport.Icons())
        },
        Row(name: "lists without icons", sentence: "The app lists name no icons.") { $0.icons = StatusReport.Icons() },
        Row(name: "downloading", sentence: "Downloading: 41 of 1,204 icons to go.") {
            ($0.icons.pending, $0.downloads.active, $0.downloads.queued, $0.inSync) = (41, 4, 37, false)
        },
        Row(name: "refreshing", sentence: "Refreshing 1 icon.") { ($0.downloads.active, $0.inSync) = (1, false) },
        Row(name: "publishing", sentence: "Publishing the newest state.") { $0.inSync = false },
        Row(name: "stopped", sentence: "The agent is stopped. All 1,204 icons are on disk.") {
            ($0.state, $0.reachable) = (.stopped, false)
        },
        Row(
            name: "stopped with a stored pause", sentence: "The agent is stopped. All 1,204 icons are on disk.",
            codes: ["paused"]
        ) {
            ($0.state, $0.reachable) = (.stopped, false)
            $0.downloads.pauses = [.init(reason: "metered", until: nil)]
        },
        Row(
            name: "stopped before anything",
            sentence: "The agent is stopped. Nothing has been published yet."
        ) { $0 = StatusReport(state: .stopped) },
        Row(name: "stopped with icons to come", sentence: "The agent is stopped. 1,203 of 1,204 icons are on disk.") {
            ($0.state, $0.icons.ready, $0.icons.pending, $0.inSync) = (.stopped, 1203, 1, false)
        },
        Row(
            name: "paused with nothing missing", sentence: "Downloads are paused. All 1,204 icons are on disk.",
            codes: ["paused"], commands: ["syncagent resume"]
        ) { $0.state = .paused },
        Row(
            name: "unreachable", sentence: "All 1,204 icons are up to date.", codes: ["agent-unreachable"],
            commands: ["sudo syncagent status"]
        ) { $0.reachable = false },
        Row(name: "polling", sentence: "All 1,204 icons are up to date.", codes: ["watch-polling"]) {
            ($0.watch.mode, $0.watch.reason) = ("polling", "overlayfs")
        },
        Row(name: "leases unseen", sentence: "All 1,204 icons are up to date.", codes: ["leases-unseen"]) {
            $0.eviction.leases = "the cache is on NFS"
        },
        Row(
            name: "stale icons", sentence: "All 1,204 icons are on disk; 3 could not be refreshed.", codes: ["stale"],
            commands: ["syncagent why https://example.com/a.png"]
        ) {
            $0.icons.stale = 3
            $0.refreshFailures = [
                StatusReport.Failure(
                    code: "connect", icons: 2, example: "https://example.com/a.png", list: "apps.plist",
                    message: "cannot connect to example.com"),
                StatusReport.Failure(code: "dns", icons: 1, example: "https://b/", list: nil, message: "no address"),
            ]
        },
        Row(
            name: "entries that are ignored", sentence: "All 1,204 icons are up to date.", codes: ["entries-ignored"],
            commands: ["syncagent list apps.plist"]
        ) { $0.lists[0].problems = 1 },
        Row(
            name: "a copy that a synchronizer kept", sentence: "All 1,204 icons are up to date.",
            codes: ["conflict-copy"],
            commands: ["syncagent list 'apps (conflicted copy 2026-11-03).plist'"]
        ) { $0.lists[0].name = "apps (conflicted copy 2026-11-03).plist" },
    ]

    /// Has icons fail for one reason.
    private static func fail(
        _ report: inout StatusReport, _ code: String, icons: Int, example: IconURL, list: ListName, message: String
    ) {
        report.icons.failed = icons
        report.failures = [
            StatusReport.Failure(code: code, icons: icons, example: example, list: list, message: message)
        ]
    }

    static let troubles: [Row] = [
        Row(
            name: "one failure", sentence: "1 icon failed [http-404].", codes: ["http-404"],
            commands: ["syncagent why https://example.com/a.png"]
        ) {
            fail(
                &$0, "http-404", icons: 1, example: "https://example.com/a.png", list: "apps.plist",
                message: "the server answered 404")
        },
        Row(
            name: "a failure of which some are muted", sentence: "1 icon failed [http-404].",
            codes: ["http-404", "muted"], commands: ["syncagent why https://example.com/a.png", "syncagent mute"]
        ) {
            fail(&$0, "http-404", icons: 3, example: "https://example.com/a.png", list: "apps.plist", message: "x")
            $0.failures[0].muted = 2
            $0.muted = 2
        },
        Row(
            name: "a failure with a secret", sentence: "2 icons failed [dns].", codes: ["dns"],
            commands: ["syncagent list 'my apps.plist'"]
        ) {
            fail(
                &$0, "dns", icons: 2, example: "https://example.com/a.png?…", list: "my apps.plist", message: "x")
        },
        Row(
            name: "a full disk", sentence: "DISK FULL: 41 icons are pending.", codes: ["disk-full"],
            commands: ["df -h", "syncagent evict --dry-run"]
        ) { ($0.downloads.reason, $0.downloads.code, $0.downloads.blocked) = ("only 1 B is free", "disk-full", 41) },
        Row(
            name: "no descriptors", sentence: "LIMIT REACHED: the agent cannot continue.", codes: ["out-of-resources"]
        ) { ($0.downloads.reason, $0.downloads.code) = ("too many open files", "out-of-resources") },
        Row(
            name: "a full disk and a failure", sentence: "DISK FULL: 1 icon is pending, and 1 icon failed:",
            codes: ["disk-full", "http-500"],
            commands: ["df -h", "syncagent evict --dry-run", "syncagent why http://a/"]
        ) {
            ($0.downloads.reason, $0.downloads.code, $0.downloads.blocked) = ("only 1 B is free", "disk-full", 1)
            $0.failures = [
                StatusReport.Failure(code: "http-500", icons: 1, example: "http://a/", list: nil, message: "500")
            ]
        },
        Row(
            name: "paused", sentence: "PAUSED: 12 icons are pending.", codes: ["paused"], commands: ["syncagent resume"]
        ) { ($0.state, $0.downloads.blocked) = (.paused, 12) },
        Row(
            name: "a held eviction", sentence: "EVICTION HELD: a change of the lists retired most images.",
            codes: ["eviction-held"], commands: ["syncagent evict --dry-run"]
        ) { $0.eviction = .held("24 of 25 images were retired") },
        Row(
            name: "a suspended eviction", sentence: "EVICTION SUSPENDED: it is unknown what the lists name.",
            codes: ["eviction-suspended"], commands: ["syncagent sync --wait"]
        ) { $0.eviction = .suspended("the lists folder cannot be opened") },
        Row(
            name: "a cache that cannot be written",
            sentence: "CACHE NOT WRITABLE: the newest state cannot be published.", codes: ["publication-failed"]
        ) { $0.publication.error = "no space left" },
        Row(
            name: "a cache that cannot be written, so that downloads wait",
            sentence: "CACHE NOT WRITABLE: the newest state cannot be published.", codes: ["publication-failed"]
        ) {
            $0.publication.error = "permission denied"
            ($0.downloads.reason, $0.downloads.code) = ("images wait to be published", "publication-failed")
            $0.downloads.blocked = 41
        },
        Row(
            name: "a damaged manifest", sentence: "The agent is stopped. CACHE DAMAGED: the manifest cannot be read.",
            codes: ["manifest-unreadable"], commands: ["syncagent verify"]
        ) { ($0.state, $0.publication.error) = (.stopped, "damaged") },
        Row(
            name: "a damaged state",
            sentence: "The state database was damaged: a pause, retry times and validators may be lost "
                + "[state-damaged].",
            codes: ["state-damaged"], commands: ["sudo rm '/state folder/state.sqlite.damaged'"]
        ) { $0.storage = .init(damaged: "/state folder/state.sqlite.damaged") },
        Row(
            name: "a bad configuration",
            sentence: "CONFIGURATION REJECTED: the previous settings stay in force.",
            codes: ["configuration-rejected"], commands: ["syncagent config check", "systemctl reload syncagent"]
        ) { $0.configuration.error = "line 3: unknown key" },
        Row(
            name: "an origin that waits",
            sentence: "7 icons are pending, because a server failed or asked to wait [origin-waiting].",
            codes: ["origin-waiting"], commands: ["syncagent retry --failed"]
        ) {
            $0.downloads.blocked = 7
            $0.downloads.origins = [.init(name: "https://a.example:443", icons: 7, until: "2026-11-21T02:50:00Z")]
        },
        Row(
            name: "the login page of a network", sentence: "NETWORK LOGIN: 3 icons wait.",
            codes: ["network-login"], commands: ["syncagent retry --failed"]
        ) {
            $0.icons.failed = 3
            $0.failures = [login(of: 3)]
        },
        Row(
            name: "the login page of a network, and what comes with it",
            sentence: "NETWORK LOGIN: 1 icon waits, and 3 icons failed:", codes: ["network-login", "tls", "http-404"],
            commands: ["syncagent retry --failed", "syncagent why https://a/", "syncagent why https://a/"]
        ) {
            $0.icons.failed = 4
            $0.failures = [
                StatusReport.Failure(code: "tls", icons: 2, example: "https://a/", list: nil, message: "x"),
                login(of: 1),
                StatusReport.Failure(code: "http-404", icons: 1, example: "https://a/", list: nil, message: "x"),
            ]
        },
        Row(
            name: "the login page of a network when the agent was stopped",
            sentence: "The agent is stopped. NETWORK LOGIN: 3 icons wait.", codes: ["network-login"],
            commands: ["syncagent why http://a/"]
        ) {
            ($0.state, $0.reachable, $0.icons.failed) = (.stopped, false, 3)
            $0.failures = [login(of: 3)]
        },
        Row(
            name: "nobody may look", sentence: "UNKNOWN: this user cannot see whether an agent is running.",
            codes: ["agent-unknown"], commands: ["sudo syncagent status"]
        ) { $0.state = .unknown },
        Row(
            name: "a failure while the agent is stopped", sentence: "The agent is stopped. 1 icon failed [dns].",
            codes: ["dns"], commands: ["syncagent why https://a/"]
        ) {
            ($0.state, $0.reachable, $0.icons.failed) = (.stopped, false, 1)
            $0.failures = [StatusReport.Failure(code: "dns", icons: 1, example: "https://a/", list: nil, message: "x")]
        },
        Row(
            name: "a bad configuration without an agent",
            sentence: "The agent is stopped. CONFIGURATION REJECTED: the agent does not start with it.",
            codes: ["configuration-rejected"], commands: ["syncagent config check"]
        ) { ($0.state, $0.reachable, $0.configuration.error) = (.stopped, false, "line 3: unknown key") },
        Row(
            name: "a list that is not accepted", sentence: "The list a.plist is not accepted [empty-file].",
            codes: ["empty-file"], commands: ["syncagent list a.plist"]
        ) {
            var list = StatusReport.List(name: "a.plist", state: .rejected)
            list.code = "empty-file"
            $0.lists.append(list)
        },
        Row(
            name: "problems before notices", sentence: "1 icon failed, 1 more problem:",
            codes: ["eviction-held", "http-500", "paused", "watch-polling"],
            commands: [
                "syncagent evict --dry-run", "syncagent why https://a/",
                "syncagent resume",
            ]
        ) {
            ($0.state, $0.watch.mode, $0.eviction) = (.paused, "polling", .held("most images"))
            $0.failures = [
                StatusReport.Failure(code: "http-500", icons: 1, example: "https://a/", list: nil, message: "x")
            ]
        },
        Row(
            name: "bad lists", sentence: "2 lists were not accepted:", codes: ["empty-file", "not-a-property-list"],
            commands: ["syncagent list -- -b.plist", "syncagent list 'a b.plist'"]
        ) {
            var rejected = StatusReport.List(name: "-b.plist", state: .rejected)
            (rejected.code, rejected.error) = ("empty-file", "The file is empty.")
            var lastGood = StatusReport.List(name: "a b.plist", state: .lastGood)
            (lastGood.code, lastGood.error) = ("not-a-property-list", "The file is not a property list.")
            $0.lists += [rejected, lastGood]
        },
    ]

    /// Icons that got the login page of a network.
    private static func login(of icons: Int) -> StatusReport.Failure {
        StatusReport.Failure(
            code: "network-login", icons: icons, example: "http://a/", list: nil, message: "log in to the network")
    }

    @Test(
        "the problem of a network's login has the login as remedy, and says that icons are retried while they are",
        arguments: [
            (.running, 3, true), (.running, 1, true), (.paused, 3, false), (.stopped, 3, false),
        ] as [(StatusReport.State, Int, Bool)])
    func networkLogin(state: StatusReport.State, icons: Int, isRetried: Bool) throws {
        var report = Self.wells[0].report
        (report.state, report.reachable, report.icons.failed) = (state, state != .stopped, icons)
        report.failures = [Self.login(of: icons)]
        let problem = try #require(report.problems.first { $0.code == "network-login" })
        #expect(problem.severity == .problem && problem.count == icons && problem.example == "http://a/")
        let waiting = icons == 1 ? "1 icon waits for a login" : "3 icons wait for a login"
        #expect(problem.sentence == "all servers answer alike, as the login page of a network does: " + waiting)
        #expect(problem.detail?.hasPrefix("log in to the network with a browser") == true)
        #expect(problem.detail?.hasSuffix("requested again each minute, for an hour") == isRetried)
        report.failures = []
        #expect(report.problems.allSatisfy { $0.code != "network-login" })
    }

    @Test(
        "the JSON of the status says what is muted, unless the state of a stopped agent could not be read",
        arguments: [(true, nil, "0", "false"), (false, 0, "0", "false"), (false, nil, "null", "null")]
            as [(Bool, Int?, String, String)])
    func muted(isReachable: Bool, muted: Int?, number: String, list: String) {
        var report = Self.wells[0].report
        (report.reachable, report.muted) = (isReachable, muted)
        let text = report.json.text
        #expect(text.trimmed.hasSuffix("\"muted\": \(number) }"), "\(text)")
        for text in [text, report.listsJSON.text] { #expect(text.contains("\"muted\": \(list) }"), "\(text)") }
    }

    @Test("the verdict of the status is one sentence, with a command for each problem", arguments: wells + troubles)
    func verdict(row: Row) {
        let report = row.report
        #expect(report.verdict.sentence == row.sentence)
        #expect(report.problems.map(\.code) == row.codes)
        #expect(report.problems.flatMap(\.commands) == row.commands)
    }

    @Test(
        "the notice of ignored entries counts the apps that keep their icon, names three, and leads to their list",
        arguments: [
            ([nil, nil], nil, "1.plist"), ([nil, (1, ["Mail"])], "1 app keeps its last icon: Mail", "2.plist"),
            ([(3, ["A", "B", "C"]), nil], "3 apps keep their last icon: A, B, C", "1.plist"),
            (
                [(1, ["A"]), (1200, ["B", "C", "D"])], "1,201 apps keep their last icon: A, B, C and 1,198 more",
                "1.plist"
            ),
        ] as [([(Int, [String])?], String?, String)])
    func kept(lists: [(Int, [String])?], detail: String?, list: String) {
        var report = Self.wells[0].report
        report.lists = lists.enumerated().map { number, kept in
            var row = StatusReport.List(name: "\(number + 1).plist", state: .ok)
            row.problems = 1
            row.kept = kept.map { StatusReport.List.Kept(apps: $0.0, examples: $0.1) }
            return row
        }
        let notice = report.problems.first { $0.code == "entries-ignored" }
        let parts = lists.count == 1 ? "1 entry or value of 1 list is" : "2 entries or values of 2 lists are"
        #expect(notice?.sentence == parts + " ignored")
        #expect(notice?.detail == detail && notice?.commands == ["syncagent list \(list)"])
    }

    @Test("the verdict names the command that starts the agent, its folders, and the given options")
    func context() {
        let context = CommandContext(
            options: ["--socket /s"], start: "syncagent run", isSystem: false, lists: "/l", cache: "/c", file: "/f")
        var report = Self.wells[0].report
        report.configuration.error = "line 3"
        report.pid = 811
        report.eviction = .suspended("cannot open /l")
        report.publication.error = "no space left"
        let expected = [
            "df -h /c", "ls -ld /c", "syncagent config check /f", "syncagent reload --socket /s",
            "ls -ld /l",
            "syncagent sync --wait --socket /s",
        ]
        #expect(report.problems(for: context).flatMap(\.commands) == expected)
        report.publication.error = "Cannot write to /c/icons/36: Permission denied"
        #expect(report.problems(for: context).flatMap(\.commands).prefix(2) == ["df -h /c", "ls -ld /c/icons/36"])
        #expect(report.json(for: context).line.contains(#""syncagent reload --socket /s""#))
        #expect(context.command("syncagent list -- -b.plist") == "syncagent list --socket /s -- -b.plist")
        #expect(
            context.command("syncagent list --failed -- -b.plist") == "syncagent list --failed --socket /s -- -b.plist")
        report = StatusReport(state: .stopped)
        let stopped = report.verdict(for: context)
        #expect(stopped.sentence == "The agent is stopped. Nothing has been published yet.")
        #expect(stopped.command == "syncagent run --socket /s")
        report.configuration.error = "line 3"
        #expect(report.verdict(for: context).command == nil)
        report.configuration.error = nil
        (report.state, report.inSync, report.reachable) = (.running, true, true)
        #expect(report.verdict(for: context).command == nil)
        #expect(report.verdict(for: context).sentence == "There are no app lists: drop one into /l.")
        let message = "10.0.0.7 is not public; to allow it, add 10.0.0.0/8 to network.allow"
        let explained = "10.0.0.7 is not public; to allow it, add 10.0.0.0/8 to allow, in [network] of /f, and reload"
        #expect(context.explained(message) == explained)
    }

    @Test(
        "the verdict tells what failed, and how much of it",
        arguments: [
            ([7], [], "7 icons failed [http-404]."), ([7, 1], [], "8 icons failed:"),
            ([7, 1], ["a"], "8 icons failed, 1 list was not accepted:"),
            ([], ["a", "b"], "2 lists were not accepted:"),
            ([1], ["a", "b"], "1 icon failed, 2 lists were not accepted:"),
        ] as [([Int], [String], String)])
    func words(icons: [Int], lists: [String], words: String) {
        var report = Self.wells[0].report
        let codes = ["http-404", "dns"]
        report.failures = zip(codes, icons).map {
            StatusReport.Failure(code: $0, icons: $1, example: "https://a/", list: nil, message: "x")
        }
        report.icons.failed = icons.reduce(0, +)
        report.lists += lists.map { StatusReport.List(name: ListName($0 + ".plist"), state: .rejected) }
        for index in report.lists.indices { report.lists[index].code = report.lists[index].name.text }
        #expect(report.verdict.sentence == words)
        #expect(report.json.line.contains(words) && !report.json.line.contains("remedy"))
    }

    @Test("the verdict tells an urgent problem first, and problems of other kinds by their number")
    func urgentWords() {
        var report = Self.wells[0].report
        report.eviction = .held("most images")
        report.failures = [StatusReport.Failure(code: "dns", icons: 2, example: "https://a/", list: nil, message: "x")]
        #expect(report.verdict.sentence == "2 icons failed, 1 more problem:")
        report.storage = .init(damaged: "/state")
        #expect(report.verdict.sentence == "2 icons failed, 2 more problems:")
        (report.downloads.reason, report.downloads.code, report.downloads.blocked) = ("1 B is free", "disk-full", 1)
        #expect(report.verdict.sentence == "DISK FULL: 1 icon is pending, and 2 icons failed, 2 more problems:")
        report.failures = []
        #expect(report.verdict.sentence == "DISK FULL: 1 icon is pending, and 2 more problems:")
        report.state = .stopped
        #expect(report.verdict.sentence.hasPrefix("The agent is stopped. DISK FULL: "))
    }

    @Test(
        "an icon's problem has the remedy of its code, unless its message has better advice",
        arguments: [
            ("http-404", "the server answered 404", "Open the URL in a browser."), ("teapot", "x", nil),
            ("not-an-image", "it looks like SVG", "Check what the URL serves"),
            ("address-refused", "10.0.0.7 is private; to allow it, add 10.0.0.0/8 to network.allow", nil),
            ("address-refused", "no address is allowed", "If that is intended, add the host to network.allowHosts"),
        ] as [(String, String, String?)])
    func remedy(code: String, message: String, remedy: String?) {
        var report = Self.wells[0].report
        report.failures = [
            StatusReport.Failure(code: code, icons: 1, example: "https://a/", list: nil, message: message)
        ]
        let found = report.problems.first?.remedy
        #expect(remedy.map { found?.hasPrefix($0) == true } ?? (found == nil), "\(found ?? "")")
    }

    @Test("the verdict is a problem exactly where status exits with 1", arguments: wells + troubles)
    func level(row: Row) {
        #expect((row.report.verdict.level == .problem) == row.report.needsAttention)
    }
}
