// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import SyncPlan
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
                #expect(sync.messages == "syncagent: 1 icon waits: downloads are paused: run syncagent resume.\n")
                let why = try await world.agent.call("why", url)
                #expect(why.output.contains("downloads are paused: run syncagent resume [paused]"), "\(why.output)")
                let status = try await world.agent.call("status")
                #expect(status.code == 1 && status.output.hasPrefix("PAUSED: 1 icon waits.\n"), "\(status.output)")
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

    @Test("check --fetch says what comes, and refuses addresses as the agent would")
    func trial() async throws {
        try await World.with { world in
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            let urls = [world.origin.iconURL("Mail"), world.origin.baseURL + "/gone.png", "http://10.0.0.1/a.png"]
            try world.agent.drop(propertyList(urls.map { ("A", $0) }), as: "apps.plist")
            let file = world.agent.lists.appending("apps.plist").string
            let check = try await world.agent.call("check", "--fetch", "--set", "network.allow=127.0.0.0/8", file)
            #expect(check.code == 1, "\(check.messages)")
            #expect(check.output.contains("  will fail: http://10.0.0.1/a.png: 10.0.0.1 is not a public address"))
            #expect(check.output.contains("  came: \(urls[0]): image/png, "), "\(check.output)")
            #expect(check.output.contains("  failed: \(urls[1]): the server answered 404 [http-404]"))
            #expect(world.origin.requestCount == 2)
            let refused = try await world.agent.call("check", file)
            #expect(refused.code == 0 && refused.output.contains("127.0.0.1 is not a public address"))
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("a JSON file is told to be one, with a command that converts it")
    func json() async throws {
        try await World.with { world in
            try world.agent.drop("[{\"name\": \"A\", \"icon\": \"https://example.com/a.png\"}]", as: "apps.plist")
            let check = try await world.agent.call("check", world.agent.lists.appending("apps.plist").string)
            #expect(check.code == 65 && check.output.contains("(this is JSON; convert it: python3 "), "\(check.output)")
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
