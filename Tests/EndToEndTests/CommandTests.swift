// SPDX-License-Identifier: Apache-2.0
import AppLists
import DemoOrigin
import Glibc
import IconCache
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("How commands end")
struct CommandTests {
    @Test("the demo holds every promise")
    func demo() async throws {
        let result = try await Subprocess.run(
            .path(BuiltProducts.path("syncagent")), arguments: ["demo"], output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20))
        #expect(result.terminationStatus == .exited(0), "\(result.standardOutput)\(result.standardError)")
        #expect(result.standardOutput.contains("All checks passed"))
    }

    @Test("a second agent on the same cache ends with 75, and names the first")
    func busy() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { agent in
                let second = try await world.agent.call("run")
                #expect(second.code == 75)
                #expect(second.messages.contains("process \(agent.value)"))
                let once = try await world.agent.call("run", "--once")
                let sync = "syncagent sync --wait --socket \(world.folder)/control.sock\n"
                #expect(
                    once.code == 75 && once.messages.contains("To sync with the running agent: " + sync),
                    "\(once.messages)")
            }
        }
    }

    @Test("before anything was published, status ends with 3 and path with 1")
    func empty() async throws {
        try await World.with { world in
            let status = try await world.agent.call("status", "--json")
            #expect(status.code == 3)
            #expect(status.output.contains("\"state\": \"stopped\", \"pid\": null"))
            #expect(try await world.agent.call("path", "https://example.com/a.png").code == 1)
            #expect(try await world.agent.call("list", "apps.plist").code == 1)
        }
    }

    @Test(
        "a missing manifest beside good generations is not “nothing has been published yet”, and a start puts it back")
    func missingManifest() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let manifest = world.agent.cache.appending(CacheLayout.manifest)
            let generation = try IconCache(at: world.agent.cache).manifest().generation
            try #require(unlink(manifest.string) == 0)
            let reason = "\(manifest) is damaged: it is missing, although generation \(generation) is there. "
            let status = try await world.agent.call("status")
            #expect(status.code == 3 && !status.output.contains("nothing has been published"), "\(status.output)")
            #expect(
                status.output.contains("\nmanifest-unreadable: ") && status.output.contains(reason), "\(status.output)")
            let json = try await world.agent.call("status", "--json").output
            #expect(json.contains("\"publication\": { \"error\": \"\(reason)"), "\(json)")
            for command in [["path", world.origin.iconURL("Mail")], ["list", "apps.plist"], ["list"], ["verify"]] {
                let answer = try await world.agent.call(command)
                #expect(answer.code == 1 && answer.messages.hasPrefix("syncagent: \(reason)"), "\(answer.messages)")
            }
            try #require(try await world.agent.call("run", "--once").code == 0)
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test(
        "a variable that looks like a setting and is none is named, with the setting that it may be meant for",
        arguments: [
            ("SYNCAGENT_FETCH_MAXBYTES", ": did you mean SYNCAGENT_FETCH_MAX_BYTES?"),
            ("SYNCAGENT_CACHE_GRAZE", ": did you mean SYNCAGENT_CACHE_GRACE?"), ("SYNCAGENT_XYZ", "."),
        ])
    func unknownVariable(name: String, advice: String) async throws {
        try await World.with { world in
            let wrong = world.setting(name, "1")
            for command in [["run", "--once"], ["config"]] {
                let answer = try await wrong.agent.call(command)
                #expect(
                    answer.messages.hasPrefix("syncagent: \(name) is not a setting and is ignored\(advice)\n"),
                    "\(command): \(answer.messages)")
            }
            // The others do not read the settings of their caller.
            #expect(try await wrong.agent.call("status").messages.isEmpty)
        }
    }

    @Test("run --once ends with 1 for icons that failed and lists that are bad, not for an eviction that is held")
    func once() async throws {
        try await World.with { world in
            let names = (0..<25).map { "App \($0)" }
            try world.drop(names)
            try #require(try await world.agent.call("run", "--once").code == 0)
            try world.drop(names.prefix(1))
            let held = try await world.agent.call("run", "--once")
            #expect(held.code == 0, "\(held.messages)")
            #expect(held.messages.contains("one change retired 24 of 25 images"), "\(held.messages)")
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            try world.agent.drop("( \"\(world.origin.baseURL)/gone.png\" )", as: "gone.plist")
            let failed = try await world.agent.call("run", "--once")
            #expect(failed.code == 1)
            #expect(
                failed.messages.contains("1 of 2 icons failed. See: syncagent list --failed gone.plist --lists "))
            try world.remove("gone.plist")
            try world.agent.drop("", as: "bad.plist")
            #expect(try await world.agent.call("run", "--once").code == 1)
        }
    }

    @Test("usage errors end with 64, a bad setting with 78, a folder that cannot be made with 73")
    func wrong() async throws {
        try await World.with { world in
            #expect(try await world.agent.call("status", "--nonsense").code == 64)
            let both = try await world.agent.call("run", "--once", "--state", world.agent.cache.string)
            #expect(both.code == 64 && both.messages.contains("--cache and --state"), "\(both.messages)")
            let bad = world.setting("SYNCAGENT_FETCH_MAX_BYTES", "many")
            let configuration = try await bad.agent.call("run", "--once")
            #expect(configuration.code == 78)
            #expect(
                configuration.messages.contains("SYNCAGENT_FETCH_MAX_BYTES") && configuration.messages.contains("many"))
            let badHost = world.setting("SYNCAGENT_NETWORK_ALLOW_HOSTS", "icons.corp,https://icons.corp")
            let hosts = try await badHost.agent.call("run", "--once")
            #expect(hosts.code == 78)
            for (variable, value) in [
                ("FETCH_CA_FILE", "/dev/null"), ("FETCH_CA_FILE", "/etc/passwd"), ("FETCH_PROXY", "junk"),
                ("FETCH_USER_AGENT", String(repeating: "a", count: 100_000)),
            ] {
                let end = try await world.setting("SYNCAGENT_" + variable, value).agent.call("run", "--once")
                #expect(end.code == 78 && end.messages.utf8.count < 400, "\(variable): \(end)")
            }
            #expect(
                hosts.messages.contains("SYNCAGENT_NETWORK_ALLOW_HOSTS")
                    && hosts.messages.contains("“https://icons.corp” is not a value"), "\(hosts.messages)")
            try world.agent.drop("", as: "file")
            let inFile = AgentProcess(
                program: BuiltProducts.path("syncagent"), folder: world.agent.lists.appending("file"))
            let folder = try await inFile.call("run", "--once")
            #expect(folder.code == 73)
            #expect(folder.messages.contains(world.agent.lists.string))
        }
    }

    @Test("check gives the agent's verdict, and ends with 65 if a file is not acceptable")
    func check() async throws {
        try await World.with { world in
            let lists = world.agent.lists
            try world.agent.drop(
                propertyList([("A", "https://example.com/a.png"), ("B", "ftp://example.com/b.png")]), as: "good.plist")
            try world.agent.drop("not a list", as: "bad.plist")
            let good = try await world.agent.call("check", lists.appending("good.plist").string)
            #expect(good.code == 0, "\(good.output)\(good.messages)")
            #expect(good.output.contains("2 apps") && good.output.contains("scheme-refused"))
            let bad = try await world.agent.call(
                "check", lists.appending("bad.plist").string, lists.appending("none.plist").string)
            #expect(bad.code == 65)
            #expect(
                bad.output.contains("bad.plist: not acceptable") && bad.output.contains("none.plist: not acceptable"))
        }
    }

    @Test("check tells each problem with its line or key path, also as JSON, in the words of the log and of list")
    func findings() async throws {
        try await World.with { world in
            let icon = world.origin.iconURL("Mail")
            try world.agent.drop("(\"\(icon)\", {icon = ();}, {icon = \"\";})", as: "apps.plist")
            try world.agent.drop("<plist>\n<array>\n<strin/></array></plist>", as: "bad.plist")
            let files = ["apps.plist", "bad.plist"].map { world.agent.lists.appending($0).string }
            let check = ["check", "--set", "network.allow=127.0.0.0/8"] + files
            let told = try await world.agent.call(check)
            #expect(told.code == 65)
            #expect(told.output.contains("  ignored: [1].icon: not a string\n  ignored: [2].icon: empty\n"))
            let fault = "line 3: <strin> is not an element of property lists"
            #expect(told.output.contains("bad.plist: not acceptable: The file is not a property list (\(fault)): "))
            let json = try await world.agent.call(check + ["--json"])
            #expect(json.code == 65)
            #expect(
                json.output == """
                    { "format": 1, "files": [
                      { "file": "\(files[0])", "acceptable": true, "apps": 1, "problems": [ \
                    { "keyPath": "[1].icon", "reason": "not a string" }, { "keyPath": "[2].icon", "reason": "empty" } ], \
                    "refused": [], "isListName": true },
                      { "file": "\(files[1])", "acceptable": false, "error": { "code": "not-a-property-list", \
                    "message": "\(ListRejection.notAPropertyList(fault).message)" } }
                    ] }

                    """)
            #expect(try await world.agent.call("run", "--once").code == 1)
            let list = try await world.agent.call("list", "apps.plist")
            #expect(
                list.code == 0
                    && list.output.hasSuffix("\nignored: [1].icon: not a string\nignored: [2].icon: empty\n"))
            let rejected = try await world.agent.call("list", "bad.plist")
            #expect(rejected.code == 1 && rejected.messages.contains(fault))
            try world.agent.drop("", as: "apps.plist")
            let lastGood = try await world.agent.call("list", "apps.plist")
            #expect(lastGood.code == 0 && lastGood.output.contains("current version rejected: The file is empty"))
        }
    }

    @Test("list shows the lists, and one list's icons")
    func list() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(try await world.agent.call("list").output.contains("apps.plist"))
            let icons = try await world.agent.call("list", "apps.plist")
            #expect(icons.code == 0)
            #expect(icons.output.contains("ready") && icons.output.contains(world.origin.iconURL("Mail")))
            let json = try await world.agent.call("list", "apps.plist", "--json").output
            let document = try AppListDocument(json: Array(json.utf8))
            #expect(document.apps.map(\.name) == ["Mail"])
            let missing = try await world.agent.call("list", "nope.plist")
            #expect(missing.code == 1 && missing.messages.contains("There is no list nope.plist"))
        }
    }

    @Test("a folder that does not exist is told, and is no success")
    func missingFolders() async throws {
        try await World.with { world in
            let none = world.folder.appending("none").string
            let list = try await world.agent.call("list", "--lists", none)
            #expect(list.code == 1 && list.messages.contains("\(none) does not exist"), "\(list)")
            let unused = try await world.agent.call("purge", "--yes")
            #expect(unused.code == 73 && unused.messages.contains("does not exist. Nothing was removed."), "\(unused)")
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let purge = try await world.agent.call("purge", "--yes", "--cache", none)
            #expect(purge.code == 73 && purge.output.isEmpty, "\(purge)")
            #expect(try await world.agent.call("events", "--limit", "1").code == 0)
        }
    }

    @Test(
        "a command whose reader has gone is ended by SIGPIPE, without a message",
        arguments: ["status", "list", "config"])
    func brokenPipe(command: String) async throws {
        try await World.with { world in
            let script = """
                { trap '' PIPE; while echo x; do :; done 2>/dev/null; "$0" "$@"; echo $? >&2; } | :
                """
            let folders = [("lists", "lists.d"), ("cache", "cache"), ("state", "state"), ("socket", "control.sock")]
            let options = folders.flatMap { ["--\($0.0)", world.folder.appending($0.1).string] }
            let program = BuiltProducts.path("syncagent").string
            let end = try await Program.run(["sh", "-c", script, program, command] + options)
            #expect(end.messages == "\(128 + SIGPIPE)\n", "\(end)")
        }
    }

    @Test("an empty URL or list name is a usage error", arguments: ["path", "why", "pin", "list", "sync"])
    func emptyName(command: String) async throws {
        let end = try await Program.run(BuiltProducts.path("syncagent").string, command, "")
        #expect(end.code == 64 && end.messages.contains("''"), "\(end)")
    }

    @Test("path does not print what is not there")
    func missingImage() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let url = world.origin.iconURL("Mail")
            let path = String(try await world.agent.call("path", url).output.dropLast())
            try #require(unlink(path) == 0)
            let lost = try await world.agent.call("path", url)
            #expect(lost.code == 1 && lost.output.isEmpty && lost.messages.contains("verify --repair"))
            // Its other name is still there. There was damage, which the exit code tells.
            #expect(try await world.agent.call("verify", "--repair").code == 1)
            #expect(try await world.agent.call("path", url).code == 0)
        }
    }

    @Test("run --once ends with 0 if it is paused and nothing is missing, whatever is due")
    func pausedOnce() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let paused = try await world.agent.whileRunning { _ in try await world.agent.call("pause") }
            #expect(paused.code == 0)
            let due = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            #expect(try await due.agent.call("run", "--once").code == 0)
            try world.drop(["Mail", "Maps"])
            let pending = try await world.agent.call("run", "--once")
            #expect(pending.code == 1 && pending.messages.contains("paused"))
        }
    }
}
