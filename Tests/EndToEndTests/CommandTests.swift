// SPDX-License-Identifier: Apache-2.0
import AppLists
import Glibc
import IconCache
import Reports
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Exit codes of commands", .timeLimit(.minutes(15)))
struct CommandTests {
    @Test("the demo passes all its checks")
    func demo() async throws {
        let result = try await Subprocess.run(
            .path(BuiltProducts.path("syncagent")), arguments: ["demo"], output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20))
        #expect(result.terminationStatus == .exited(0), "\(result.standardError)")
        expectContains(result.standardOutput, "All checks passed")
    }

    @Test("a second agent on the same cache ends with 75, and names the first")
    func busy() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { agent in
                let second = try await world.agent.call("run")
                #expect(second.code == 75)
                expectContains(second.messages, "process \(agent.value)")
                let once = try await world.agent.call("run", "--once")
                #expect(once.code == 75)
                let sync = "syncagent sync --wait --socket \(world.folder)/control.sock\n"
                expectContains(once.messages, "To sync with the running agent: " + sync)
            }
        }
    }

    @Test("a missing manifest beside good generations is reported as damage, and the next start restores it")
    func missingManifest() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let manifest = world.agent.cache.appending(CacheLayout.manifest)
            let generation = try IconCache(at: world.agent.cache).manifest().generation
            try #require(unlink(manifest.string) == 0)
            let reason = "\(manifest) is damaged: it is missing, although generation \(generation) is there. "
            let status = try await world.agent.call("status")
            #expect(status.code == 3 && !status.output.contains("nothing has been published"))
            expectContains(status.output, "\nmanifest-unreadable: ", reason)
            let json = try await world.agent.call("status", "--json").output
            expectContains(json, "\"publication\": { \"error\": \"\(reason)")
            let mail = world.origin.iconURL("Mail")
            for command in [["path", mail, "--resolve"], ["list", "apps.plist"], ["list"], ["verify"]] {
                let answer = try await world.agent.call(command)
                #expect(
                    answer.code == 1 && answer.messages.hasPrefix("syncagent: \(reason)"),
                    "\(command[0]): \(answer.code): \(answer.messages)")
            }
            // path prints the name in by-url/, and reports the damage.
            for text in [nil, "{ \"form"] {
                if let text { try write(text, to: manifest) }
                let path = try await world.agent.call("path", mail)
                let name = world.agent.cache.appending(CacheLayout.byURL(IconURL(mail)))
                #expect(path.code == 0 && path.output == "\(name)\n", "\(path)")
                #expect(path.messages.hasPrefix("syncagent: \(text == nil ? reason : "\(manifest) is damaged: ")"))
                #expect(try await world.agent.call("path", mail + "x").code == 1)
            }
            try #require(try await world.agent.call("run", "--once").code == 0)
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test("a variable that looks like a setting but is none is ignored, with a message that names the nearest setting")
    func unknownVariable() async throws {
        try await World.with { world in
            let wrong = world.setting("SYNCAGENT_FETCH_MAXBYTES", "1").setting("SYNCAGENT_CACHE_GRAZE", "1")
                .setting("SYNCAGENT_XYZ", "1")
            for command in [["run", "--once"], ["config"]] {
                let messages = try await wrong.agent.call(command).messages
                expectContains(
                    messages,
                    "syncagent: SYNCAGENT_FETCH_MAXBYTES is not a setting and is ignored: did you mean "
                        + "SYNCAGENT_FETCH_MAX_BYTES?\n",
                    "syncagent: SYNCAGENT_CACHE_GRAZE is not a setting and is ignored: did you mean "
                        + "SYNCAGENT_CACHE_GRACE?\n",
                    "syncagent: SYNCAGENT_XYZ is not a setting and is ignored.\n")
            }
            // The others do not read the settings of their caller.
            #expect(try await wrong.agent.call("status").messages.isEmpty)
        }
    }

    @Test("run --once ends with 1 for failed icons, bad lists and icons that a pause leaves, not for a held eviction")
    func once() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_EVICTION_HOLD_ABOVE", "50% and 1 images")
            try world.drop(["Mail", "Maps", "Music"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try world.drop(["Mail"])
            let held = try await world.agent.call("run", "--once")
            #expect(held.code == 0)
            expectContains(held.messages, "2 of 3 images were retired")
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            try world.agent.drop("( \"\(world.origin.baseURL)/gone.png\" )", as: "gone.plist")
            let failed = try await world.agent.call("run", "--once")
            #expect(failed.code == 1)
            expectContains(
                failed.messages, "1 of 2 icons failed. See: syncagent list --failed gone.plist --lists ")
            try world.remove("gone.plist")
            try world.agent.drop("", as: "bad.plist")
            #expect(try await world.agent.call("run", "--once").code == 1)

            try world.remove("bad.plist")
            let paused = try await world.agent.whileRunning { _ in try await world.agent.call("pause") }
            #expect(paused.code == 0)
            // What is due for a refresh is not missing.
            let due = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
            #expect(try await due.agent.call("run", "--once").code == 0)
            try world.drop(["Mail", "New"])
            let pending = try await world.agent.call("run", "--once")
            #expect(pending.code == 1)
            expectContains(pending.messages, "paused")
        }
    }

    @Test("wrong arguments end with 64, wrong settings with 78, a folder that cannot be made with 73, a missing one 1")
    func wrong() async throws {
        try await World.with { world in
            let line = try await world.agent.call("status", "--a\nb")
            #expect(line.code == 64)
            expectContains(line.messages, "--a\\u000ab")
            for command in ["path", "why", "pin", "list", "sync"] {
                let empty = try await world.agent.call(command, "")
                #expect(empty.code == 64 && empty.messages.contains("''"), "\(command): \(empty)")
            }
            let both = try await world.agent.call("run", "--once", "--state", world.agent.cache.string)
            #expect(both.code == 64)
            expectContains(both.messages, "--cache and --state")

            let values: [(String, String, [String])] = [
                ("FETCH_MAX_BYTES", "many", ["SYNCAGENT_FETCH_MAX_BYTES", "many"]),
                (
                    "NETWORK_ALLOW_HOSTS", "icons.corp,https://icons.corp",
                    ["SYNCAGENT_NETWORK_ALLOW_HOSTS", "“https://icons.corp” is not a value"]
                ),
                ("FETCH_CA_FILE", "/dev/null", []), ("FETCH_CA_FILE", "/etc/passwd", []), ("FETCH_PROXY", "junk", []),
                ("FETCH_USER_AGENT", String(repeating: "a", count: 100_000), []),
            ]
            for (variable, value, words) in values {
                let end = try await world.setting("SYNCAGENT_" + variable, value).agent.call("run", "--once")
                #expect(end.code == 78 && end.messages.utf8.count < 1000, "\(variable): \(end)")
                for word in words { expectContains(end.messages, word) }
            }

            let none = world.folder.appending("none").string
            let list = try await world.agent.call("list", "--lists", none)
            #expect(list.code == 1)
            expectContains(list.messages, "\(none) does not exist")
            try world.agent.drop("", as: "file")
            let inFile = AgentProcess(
                program: BuiltProducts.path("syncagent"), folder: world.agent.lists.appending("file"))
            let folder = try await inFile.call("run", "--once")
            #expect(folder.code == 73)
            expectContains(folder.messages, world.agent.lists.string)
        }
    }

    @Test("check names each problem by line or key path, as list does, also as JSON; a bad file ends it with 65")
    func check() async throws {
        try await World.with { world in
            let icon = world.origin.iconURL("Mail")
            try world.agent.drop("(\"\(icon)\", {icon = ();}, {icon = \"\";})", as: "apps.plist")
            try world.agent.drop("<plist>\n<array>\n<strin/></array></plist>", as: "bad.plist")
            let files = ["apps.plist", "bad.plist"].map { world.agent.lists.appending($0).string }
            let check = ["check", "--set", "network.allow=127.0.0.0/8"] + files
            let text = try await world.agent.call(check)
            #expect(text.code == 65)
            let fault = "line 3: <strin> is not an element of property lists"
            expectContains(
                text.output, "  ignored: [1].icon: not a string\n  ignored: [2].icon: empty\n",
                "bad.plist: not acceptable: The file is not a property list (\(fault)): ")
            let json = try await world.agent.call(check + ["--json"])
            #expect(json.code == 65)
            expectLines(
                json.output,
                """
                { "format": 1, "files": [
                  { "file": "\(files[0])", "acceptable": true, "apps": 1, "problems": [ \
                { "keyPath": "[1].icon", "reason": "not a string" }, { "keyPath": "[2].icon", "reason": "empty" } ], \
                "refused": [], "isListName": true },
                  { "file": "\(files[1])", "acceptable": false, "error": { "code": "not-a-property-list", \
                "message": "\(ListRejection.notAPropertyList(fault).message)" } }
                ] }

                """)
            let misspelt = try await world.agent.call("check", world.agent.lists.appending("aps.plist").string)
            #expect(misspelt.code == 66)
            expectContains(misspelt.output, "There is no such file. Did you mean \(files[0])?\n")

            let ignored = world.folder.appending("Apps.PLIST")
            try write("(\"\(icon)\")", to: ignored)
            let named = try await world.agent.call(
                "check", "--strict", "--set", "network.allow=127.0.0.0/8", ignored.string)
            #expect(named.code == 1)
            expectContains(named.output, ListName.ignored)

            #expect(try await world.agent.call("run", "--once").code == 1)
            let list = try await world.agent.call("list", "apps.plist")
            #expect(list.code == 0)
            expectContains(list.output, "\nignored: [1].icon: not a string\nignored: [2].icon: empty\n")
            let rejected = try await world.agent.call("list", "bad.plist")
            #expect(rejected.code == 1)
            expectContains(rejected.messages, fault)
            try world.agent.drop("", as: "apps.plist")
            let lastGood = try await world.agent.call("list", "apps.plist")
            #expect(lastGood.code == 0)
            expectContains(lastGood.output, "current version rejected: The file is empty")
        }
    }

    @Test("explain prints what a code of the log, the status or the cache means, and ends with 1 for another word")
    func explain() async throws {
        try await World.with { world in
            for code in ["http-404", "not-an-image", "empty-file", "paused"] {
                let known = try await world.agent.call("explain", code)
                #expect(known.code == 0 && known.messages.isEmpty, "\(known)")
                expectContains(known.output, "\(code) (", "\n  means ", "\n  what to do ")
            }
            let all = try await world.agent.call("explain")
            #expect(all.code == 0)
            expectContains(all.output, "\n  http-NNN ", "\n  upstream-stale ")
            let unknown = try await world.agent.call("explain", "htp-\u{1B}404")
            #expect(unknown.code == 1 && unknown.output.isEmpty && !unknown.messages.contains("\u{1B}"), "\(unknown)")
            expectContains(unknown.messages, "Did you mean http-404? All codes: syncagent explain")
        }
    }

    @Test("output that cannot be written ends a command with 1, a reader that has gone by SIGPIPE, no other one")
    func unwritableOutput() async throws {
        try await World.with { world in
            for output in ["exec >/dev/full", "exec >&-"] {
                let full = try world.after(output)
                for command in [["--help"], ["sync", "--help"], ["--version"], ["status"], ["list"]] {
                    let answer = try await full.agent.call(command)
                    #expect(
                        answer.code == 1 && answer.messages.contains("Cannot write the output"),
                        "\(command): \(answer)")
                }
            }
            let script = """
                { trap '' PIPE; while echo x; do :; done 2>/dev/null; "$0" "$@"; echo $? >&2; } | :
                """
            let folders = [("lists", "lists.d"), ("cache", "cache"), ("state", "state"), ("socket", "control.sock")]
            let options = folders.flatMap { ["--\($0.0)", world.folder.appending($0.1).string] }
            let program = BuiltProducts.path("syncagent").string
            for command in ["status", "list", "config"] {
                let end = try await Program.run(["sh", "-c", script, program, command] + options)
                #expect(end.messages == "\(128 + SIGPIPE)\n", "\(command): \(end)")
            }
            // A program that has the pipe, too, set it not to block.
            let narrow = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096); os.set_blocking(1, False)"
            let unblocked = "{ python3 -c '\(narrow)'; \"$0\" explain; echo $? >&2; } | cat"
            let whole = try await Program.run(["sh", "-c", unblocked, program])
            #expect(whole.messages == "0\n", "\(whole)")
            #expect(whole.output == (try await world.agent.call("explain").output))
            let long = String(repeating: "x", count: 9000)
            let messages = try await Program.run([
                "sh", "-c", "{ python3 -c '\(narrow)'; \"$0\" explain \"$1\" 2>&1 >/dev/null; } | cat", program, long,
            ])
            #expect(messages.output == (try await world.agent.call("explain", long).messages))
            // Also while it has nothing to write.
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.pid != nil }
                for (command, reader) in [
                    (["events", "--follow"], ":"), (["status", "--watch"], "head -n 1"),
                    (["status", "--watch", "--json"], "head -n 1"),
                ] {
                    let quiet = "{ trap '' PIPE; timeout 20 \"$0\" \"$@\"; echo $? >&2; } | \(reader) >/dev/null"
                    let end = try await Program.run(["sh", "-c", quiet, program] + command + options)
                    #expect(end.messages == "\(128 + SIGPIPE)\n", "\(command): \(end)")
                }
            }
        }
    }
}
