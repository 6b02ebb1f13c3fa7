// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Commands that help when something is wrong", .timeLimit(.minutes(15)))
struct GuidanceTests {
    @Test("commands that are given only the socket use the agent's folders, and suggest commands with the socket")
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
                    (["list", "apps.plist"], url), (["path", url], "\(world.agent.cache)/by-url/"),
                    (["path", url, "--resolve"], "\(world.agent.cache)/icons/"),
                ] {
                    let end = try await Program.run([program.string] + command + options)
                    expectContains(end.output, words)
                }
                world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
                try world.agent.drop(propertyList([("A", world.origin.baseURL + "/gone.png?v=1")]), as: "b.plist")
                try await world.agent.status { $0.icons.failed == 1 }
                let status = try await Program.run([program.string, "status"] + options)
                expectContains(status.output, "$ syncagent list b.plist \(options.joined(separator: " "))\n")
            }
        }
    }

    @Test("why takes an app's name, which several lists can have, and list --failed is about all lists")
    func names() async throws {
        try await World.with { world in
            let gone = world.origin.baseURL + "/gone.png"
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            try world.drop(["Mail"])
            try world.agent.drop(propertyList([("Mail", gone), ("A: B", gone)]), as: "other.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 1 && $0.icons.ready == 1 }
                let why = try await world.agent.call("why", "Mail")
                #expect(why.code == 0)
                expectContains(why.output, world.origin.iconURL("Mail") + "\n", "\n\n\(gone)\n", "http-404")
                let colon = try await world.agent.call("why", "A: B")
                #expect(colon.code == 0 && colon.output.hasPrefix(gone + "\n"), "\(colon)")
                let json = try await world.agent.call("why", "--json", "A: B")
                #expect(json.output.hasPrefix("{ \"format\": 1, \"app\": \"A: B\", \"icons\": ["), "\(json)")
                let unknown = try await world.agent.call("why", "Mal")
                #expect(unknown.code == 1)
                expectContains(unknown.messages, "No app in any list is named “Mal”. Did you mean Mail?")

                let failed = try await world.agent.call("list", "--failed")
                #expect(failed.code == 0 && !failed.output.contains("apps.plist"), "\(failed)")
                expectContains(failed.output, "http-404  other.plist  Mail  \(gone)\n")
                let documents = try await world.agent.call("list", "--failed", "--json")
                #expect(documents.output.hasPrefix("{ \"format\": 1, \"lists\": [\n{ "), "\(documents)")
                #expect(documents.output.matches(of: /"status": "failed"/).count == 2)
            }
        }
    }

    @Test("a URL is found without its query, but by path only as tables show it; why refuses one that fits several")
    func queries() async throws {
        try await World.with { world in
            let base = world.origin.baseURL
            let mail = world.origin.iconURL("Mail")
            world.origin.respond(to: "/a.png", with: OriginReply(status: 404))
            let paths = ["/a.png?v=1", "/b.png?v=1", "/b.png?v=2", "/c.png#1", "/c.png#2"]
            let urls = [mail + "?v=1"] + paths.map { base + $0 }
            try world.agent.drop(propertyList(urls.map { ("A", $0) }), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.pending == 0 }
                let failed = try await world.agent.call("list", "--failed", "apps.plist")
                #expect(failed.code == 0)
                expectContains(failed.output, "/a.png?…")
                let shortened = [base + "/a.png", base + "/a.png?…"]
                for short in shortened {
                    let why = try await world.agent.call("why", short)
                    #expect(why.code == 0)
                    expectContains(why.output, "http-404")
                }
                for short in shortened {
                    let retry = try await world.agent.call("retry", short)
                    #expect(retry.code == 0, "\(retry)")
                }
                let several = try await world.agent.call("why", base + "/b.png")
                #expect(several.code == 1)
                expectContains(several.messages, "different queries", "syncagent list --json apps.plist")
                let fragments = try await world.agent.call("refresh", base + "/c.png")
                #expect(fragments.code == 1)
                expectContains(fragments.messages, "2 icons have the URL \(base)/c.png with different fragments.")
                let path = try await world.agent.call("path", "--resolve", mail + "?…")
                #expect(path.code == 0 && path.output.hasSuffix(".png\n"), "\(path)")
                #expect(try await world.agent.call("path", mail).code == 1)

                try world.remove("apps.plist")
                try await world.agent.status { $0.inSync && $0.icons.retired == 1 }
                for short in [mail, mail + "?…"] {
                    let explained = try await world.agent.call("evict", "--explain", short)
                    #expect(explained.code == 0)
                    expectContains(explained.output, "now, although ")
                }
                #expect(try await world.agent.call("evict", "--explain", mail + "x").code == 1)
            }
        }
    }

    @Test("an icon whose refresh failed is stale in status and list, with its cause and the command to type")
    func stale() async throws {
        try await World.with { world in
            let url = world.origin.iconURL("Mail")
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                world.origin.respond(to: TestOrigin.iconPath("Mail"), with: OriginReply(status: 503))
                #expect(try await world.agent.call("refresh", url).code == 0)
                try await world.agent.status { $0.icons.stale == 1 }
                let status = try await world.agent.call("status")
                #expect(status.code == 0)
                let verdict = "All 2 icons are on disk; 1 could not be refreshed.\n"
                #expect(status.output.hasPrefix(verdict), "\(status.output)")
                expectContains(status.output, "[http-503]\n  $ syncagent why \(url) --socket ")
                let json = try await world.agent.call("status", "--json").output
                expectContains(json, #""refreshFailures": ["#, #""code": "http-503", "icons": 1"#)
                try await expectStale(world, url)
            }
            // The same from disk.
            try await expectStale(world, url)
        }
    }

    private func expectStale(_ world: World, _ url: String) async throws {
        let list = try await world.agent.call("list", "apps.plist")
        expectContains(list.output, "stale ", "ready ")
        let failed = try await world.agent.call("list", "--failed", "apps.plist").output
        #expect(failed.contains(url) && !failed.contains("Maps"), "\(failed)")
    }

    @Test("a broken configuration is one problem above the content of the folders while no agent runs; check goes on")
    func brokenConfiguration() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let file = world.folder.appending("broken.toml")
            try write("[fetch]\nperHost = 0\nconcurency = 3\n", to: file)
            for command in [["status"], ["list"]] {
                let end = try await world.agent.call(command + ["--config", file.string])
                #expect(end.code == 78)
                expectContains(
                    end.output, "configuration-rejected: ", "2 errors, the first: \(file):2: ",
                    "  $ syncagent config check \(file)\n", "apps.plist  ok")
            }
            let list = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", list, "--config", file.string)
            #expect(check.code == 0)
            expectContains(check.messages, "syncagent config check")
            try world.agent.drop(propertyList([("A", world.origin.iconURL("A"))]), as: "foo.xml")
            let ignored = try await world.agent.call("list", "foo.xml")
            #expect(ignored.code == 1)
            expectContains(ignored.messages, "must end in .plist or .json")
        }
    }

    @Test("check --fetch tries each download, and refuses the URLs that the agent would refuse")
    func trial() async throws {
        try await World.with { world in
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            // What is large goes through a file.
            world.origin.respond(to: TestOrigin.iconPath("Mail"), with: .icon(IconDrawing("Mail", paddedTo: 300_000)))
            let urls = [
                world.origin.iconURL("Mail"), world.origin.baseURL + "/gone.png", "http://10.0.0.1/a.png",
                "ftp://example.com/b.png",
            ]
            try world.agent.drop(propertyList(urls.map { ("A", $0) }), as: "apps.plist")
            let file = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", "--fetch", "--set", "network.allow=127.0.0.0/8", file)
            #expect(check.code == 1)
            expectContains(
                check.output, "  will fail: A (http://10.0.0.1/a.png): 10.0.0.1 is not a public address",
                "  ok: A (\(urls[0])): image/png, ", "  failed: A (\(urls[1])): the server answered 404 [http-404]")
            #expect(world.origin.requestCount == 2)
            let refused = try await world.agent.call("check", file)
            #expect(refused.code == 0)
            expectContains(refused.output, "4 apps", "127.0.0.1 is not a public address", "scheme-refused")
            let advice = refused.output.split(separator: "\n").filter { $0.contains("to allow it, add 127.0.0.0/8") }
            #expect(advice.count == 1, "\(advice)")
            // Nothing is asked for, and nothing would come.
            let none = try await world.agent.call("check", "--fetch", file)
            #expect(none.code == 1)
            #expect(world.origin.requestCount == 2)
        }
    }
}
