// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The way of somebody in trouble")
struct GuidanceTests {
    @Test("status groups failures by code, with the command to type next; stopped, it says the same")
    func failures() async throws {
        try await World.with { world in
            world.origin.respond(to: "/a.png", with: OriginReply(status: 404))
            world.origin.respond(to: "/b.png", with: OriginReply(status: 404))
            let base = world.origin.baseURL
            try world.agent.drop(propertyList([("A", base + "/a.png"), ("B", base + "/b.png")]), as: "my apps.plist")
            @Sendable func expectProblem(in output: String) {
                #expect(output.contains("2 icons failed [http-404].\n"), "\(output)")
                #expect(output.contains("http-404: 2 icons failed\n"), "\(output)")
                #expect(output.contains("  $ syncagent why \(base)/"), "\(output)")
                #expect(output.contains("my apps.plist  2 failed"), "\(output)")
            }
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 2 }
                let status = try await world.agent.call("status")
                #expect(status.code == 1 && !status.output.contains("in sync"))
                expectProblem(in: status.output)
                let json = try await world.agent.call("status", "--json").output
                #expect(json.contains(#"{ "code": "http-404", "severity": "problem", "count": 2"#), "\(json)")
            }
            expectProblem(in: try await world.agent.call("status").output)
        }
    }

    @Test("pause, resume, sync, pin and unpin say in a line what they did, and why names the pause")
    func confirmations() async throws {
        try await World.with { world in
            let url = world.origin.iconURL("Mail")
            try await world.agent.whileRunning { _ in
                #expect(try await world.agent.call("pause").output.hasPrefix("Downloads are paused."))
                try world.drop(["Mail"])
                let sync = try await world.agent.call("sync", "--wait")
                #expect(sync.code == 1)
                #expect(
                    sync.messages.hasPrefix("syncagent: 1 icon waits: downloads are paused. See: syncagent status"),
                    "\(sync.messages)")
                let why = try await world.agent.call("why", url)
                #expect(why.output.contains("downloads are paused: run syncagent resume [paused]"), "\(why.output)")
                let status = try await world.agent.call("status")
                #expect(status.code == 1 && status.output.hasPrefix("PAUSED: 1 icon is pending.\n"), "\(status.output)")
                let waiting = try await world.agent.call("pin", "--wait", world.origin.iconURL("Maps"))
                #expect(waiting.code == 1 && waiting.messages.contains("not ready yet: downloads are paused"))
                #expect(try await world.agent.call("resume").output == "Downloads are resumed: 2 icons to download.\n")
                #expect(try await world.agent.call("sync").output.hasPrefix("The agent rescans the lists folder."))
                #expect(
                    try await world.agent.call("pin", "--wait", url).output == "Pinned \(url): the icon is ready.\n")
                let unpinned = try await world.agent.call("unpin", url)
                #expect(unpinned.output == "Unpinned \(url): it stays as long as apps.plist names it.\n")
                let again = try await world.agent.call("unpin", url)
                #expect(again.code == 1 && again.messages.contains("is not pinned"), "\(again.messages)")
                #expect(try await world.agent.call("pause", "--json").output.contains("\"state\": \"paused\""))
            }
        }
    }

    @Test("a name that is misspelt gets the nearest one: a list, a URL, a file, a command")
    func suggestions() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let list = try await world.agent.call("list", "app.plist")
            #expect(list.code == 1 && list.messages.hasSuffix("Did you mean apps.plist?\n"), "\(list.messages)")
            let url = world.origin.iconURL("Mail")
            let why = try await world.agent.call("why", String(url.dropLast()))
            #expect(why.code == 1 && why.messages.hasSuffix("Did you mean \(url)?\n"), "\(why.messages)")
            let file = try await world.agent.call("check", world.agent.lists.appending("aps.plist").string)
            #expect(file.code == 65)
            #expect(file.output.hasSuffix("There is no such file. Did you mean \(world.agent.lists)/apps.plist?\n"))
            let command = try await world.agent.call("statsu")
            #expect(command.code == 64 && command.messages.contains("Did you mean status?"), "\(command.messages)")
            let line = try await world.agent.call("status", "--a\nb")
            #expect(line.code == 64 && line.messages.contains("--a\\u000ab"), "\(line.messages)")
        }
    }

    @Test("with only its socket, commands tell of the agent's folders, and suggest commands with the socket")
    func socketAlone() async throws {
        try await World.with { world in
            let url = world.origin.iconURL("Mail")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                let program = BuiltProducts.path("syncagent")
                let options = ["--socket", world.folder.appending("control.sock").string]
                for (command, words) in [
                    (["status"], "in \(world.agent.cache)\n"), (["why", url], "\(world.agent.cache)/icons/"),
                    (["list", "apps.plist"], url), (["path", url], "\(world.agent.cache)/icons/"),
                ] {
                    let end = try await Program.run([program.string] + command + options)
                    #expect(end.output.contains(words), "\(command): \(end)")
                }
                world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
                try world.agent.drop(propertyList([("A", world.origin.baseURL + "/gone.png?v=1")]), as: "b.plist")
                try await world.agent.status { $0.icons.failed == 1 }
                let status = try await Program.run([program.string, "status"] + options)
                #expect(status.output.contains("$ syncagent list b.plist \(options.joined(separator: " "))\n"))
            }
        }
    }

    @Test("a URL is known without its query; if several fit, a command shows them whole")
    func queries() async throws {
        try await World.with { world in
            let base = world.origin.baseURL
            world.origin.respond(to: "/a.png", with: OriginReply(status: 404))
            let urls = ["/a.png?v=1", "/b.png?v=1", "/b.png?v=2"].map { base + $0 }
            try world.agent.drop(propertyList(urls.map { ("A", $0) }), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.pending == 0 }
                for short in [base + "/a.png", base + "/a.png?…"] {
                    let why = try await world.agent.call("why", short)
                    #expect(why.code == 0 && why.output.contains("http-404"), "\(why)")
                    let retry = try await world.agent.call("retry", short)
                    #expect(retry.code == 0, "\(retry)")
                }
                let several = try await world.agent.call("why", base + "/b.png")
                #expect(several.code == 1 && several.messages.contains("syncagent list --json apps.plist"))
            }
            let failed = try await world.agent.call("list", "--failed", "apps.plist")
            #expect(failed.code == 0 && failed.output.contains("/a.png?…"), "\(failed)")
        }
    }

    @Test("path and evict --explain take a URL as tables show it; for a program, path takes no other short one")
    func shownURLs() async throws {
        try await World.with { world in
            let url = world.origin.iconURL("Mail")
            try world.agent.drop(propertyList([("Mail", url + "?v=1")]), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                let path = try await world.agent.call("path", url + "?…")
                #expect(path.code == 0 && path.output.hasSuffix(".png\n"), "\(path)")
                #expect(try await world.agent.call("path", url).code == 1)
                try world.remove("apps.plist")
                try await world.agent.status { $0.inSync && $0.icons.retired == 1 }
                for short in [url, url + "?…"] {
                    let explained = try await world.agent.call("evict", "--explain", short)
                    #expect(explained.code == 0 && explained.output.contains("now, although "), "\(explained)")
                }
                #expect(try await world.agent.call("evict", "--explain", url + "x").code == 1)
            }
        }
    }

    @Test("an icon whose refresh failed is stale everywhere, with its cause and what to type, until a refresh succeeds")
    func stale() async throws {
        try await World.with { world in
            let url = world.origin.iconURL("Mail")
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                world.origin.respond(to: DemoOrigin.iconPath("Mail"), with: OriginReply(status: 503))
                #expect(try await world.agent.call("refresh", url).code == 0)
                try await world.agent.status { $0.icons.stale == 1 }
                let status = try await world.agent.call("status")
                #expect(status.code == 0)
                let verdict = "All 2 icons are on disk; 1 could not be refreshed.\n"
                #expect(status.output.hasPrefix(verdict), "\(status.output)")
                #expect(status.output.contains("[http-503]\n  $ syncagent why \(url) --socket "), "\(status.output)")
                let json = try await world.agent.call("status", "--json").output
                #expect(json.contains(#""refreshFailures": ["#) && json.contains(#""code": "http-503", "icons": 1"#))
                try await expectStale(world, url)
            }
            // The same from disk.
            try await expectStale(world, url)
        }
    }

    private func expectStale(_ world: World, _ url: String) async throws {
        let list = try await world.agent.call("list", "apps.plist")
        #expect(list.output.contains("stale ") && list.output.contains("ready "), "\(list)")
        let failed = try await world.agent.call("list", "--failed", "apps.plist").output
        #expect(failed.contains(url) && !failed.contains("Maps"), "\(failed)")
    }

    @Test("without an agent, a broken configuration is one problem above what the folders show, and check goes on")
    func brokenConfiguration() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let file = world.folder.appending("broken.toml")
            try write("[fetch]\nperHost = 0\nconcurency = 3\n", to: file)
            for command in [["status"], ["list"]] {
                let end = try await world.agent.call(command + ["--config", file.string])
                #expect(end.code == 78 && end.output.contains("configuration-rejected: "), "\(end)")
                #expect(end.output.contains("2 errors, the first: \(file):2: "), "\(end.output)")
                #expect(end.output.contains("  $ syncagent config check \(file)\n"), "\(end.output)")
                #expect(end.output.contains("apps.plist  ok"), "\(end.output)")
            }
            let list = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", list, "--config", file.string)
            #expect(check.code == 0 && check.messages.contains("syncagent config check"), "\(check)")
            try world.agent.drop(propertyList([("A", world.origin.iconURL("A"))]), as: "foo.xml")
            let ignored = try await world.agent.call("list", "foo.xml")
            #expect(ignored.code == 1 && ignored.messages.contains("must end in .plist"), "\(ignored)")
        }
    }

    @Test("check --fetch says what comes, and refuses addresses as the agent would")
    func trial() async throws {
        try await World.with { world in
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            // What is large goes through a file.
            world.origin.respond(to: DemoOrigin.iconPath("Mail"), with: .icon(IconDrawing("Mail", paddedTo: 300_000)))
            let urls = [world.origin.iconURL("Mail"), world.origin.baseURL + "/gone.png", "http://10.0.0.1/a.png"]
            try world.agent.drop(propertyList(urls.map { ("A", $0) }), as: "apps.plist")
            let file = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", "--fetch", "--set", "network.allow=127.0.0.0/8", file)
            #expect(check.code == 1, "\(check.messages)")
            #expect(check.output.contains("  will fail: http://10.0.0.1/a.png: 10.0.0.1 is not a public address"))
            #expect(check.output.contains("  ok: \(urls[0]): image/png, "), "\(check.output)")
            #expect(check.output.contains("  failed: \(urls[1]): the server answered 404 [http-404]"))
            #expect(world.origin.requestCount == 2)
            let refused = try await world.agent.call("check", file)
            #expect(refused.code == 0 && refused.output.contains("127.0.0.1 is not a public address"))
            let advice = refused.output.split(separator: "\n").filter { $0.contains("to allow it, add 127.0.0.0/8") }
            #expect(advice.count == 1, "\(refused.output)")
            // Nothing is asked for, and nothing would come.
            let none = try await world.agent.call("check", "--fetch", file)
            #expect(none.code == 1, "\(none)")
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("a JSON file is told to be one")
    func json() async throws {
        try await World.with { world in
            try world.agent.drop("[{\"name\": \"A\", \"icon\": \"https://example.com/a.png\"}]", as: "apps.plist")
            let check = try await world.agent.call("check", world.agent.lists.appending("apps.plist").string)
            #expect(
                check.code == 65 && check.output.contains("(this is JSON; convert it to a property list)"),
                "\(check.output)")
        }
    }

    @Test(
        "what cannot be written ends with 1, help too",
        arguments: [["--help"], ["sync", "--help"], ["--version"], ["status"], ["list"]])
    func fullOutput(command: [String]) async throws {
        try await World.with { world in
            let full = try world.after("exec >/dev/full")
            let answer = try await full.agent.call(command)
            #expect(answer.code == 1 && answer.messages.contains("Cannot write the output"), "\(answer)")
        }
    }
}
