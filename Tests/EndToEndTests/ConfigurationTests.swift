// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import DemoOrigin
import FoundationEssentials
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The configuration of an agent")
struct ConfigurationTests {
    private static let svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><rect width=\"8\" height=\"8\"/></svg>"

    /// A world whose agent has a configuration file.
    private static func world(_ plain: World, _ text: String) throws -> (world: World, file: FilePath) {
        let file = plain.folder.appending("syncagent.toml")
        try write(text, to: file)
        var world = plain
        world.agent.runOptions += ["--config", file.string]
        return (world, file)
    }

    private static func reload(_ agent: ProcessIdentifier) throws { try #require(kill(agent.value, SIGHUP) == 0) }

    @Test("SIGHUP takes up a changed file: what failed by the old settings is tried again, and lists are read anew")
    func reload() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[images]\nallowSVG = false\n")
            world.origin.respond(
                to: "/a.svg",
                with: OriginReply(status: 200, headers: [("Content-Type", "image/svg+xml")], body: Array(Self.svg.utf8))
            )
            try world.agent.drop(
                propertyList([("A", "\(world.origin.baseURL)/a.svg"), ("Mail", world.origin.iconURL("Mail"))]),
                as: "apps.plist")
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.icons.failed == 1 && $0.icons.ready == 1 }
                try write("[images]\nallowSVG = true\n", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.icons.ready == 2 && $0.inSync }
                #expect(try await world.agent.call("list", "apps.plist").output.contains("8x8"))

                try write("[images]\nallowSVG = true\n[lists]\nmaxEntries = 1\n", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.lists.first?.state == "last-good" }
                try write("[images]\nallowSVG = true\n", to: file)
                // A list that came with the signal is read with it.
                try world.drop(["Maps"], as: "other.plist")
                try Self.reload(agent)
                try await world.agent.status { $0.lists.map(\.state) == ["ok", "ok"] && $0.icons.ready == 3 }
            }
        }
    }

    @Test("a bad file at a reload keeps the settings, and status says so until the file is right")
    func badReload() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[fetch]\nperHost = 3\n")
            try world.drop(["Mail"])
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                try write("[fetch]\nperHost = 0\nconcurency = 3\n", to: file)
                try world.drop(["Mail", "Maps"])
                try Self.reload(agent)
                let reason = "\(file):2: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000."
                let status = try await world.agent.status { $0.configuration.error != nil && $0.icons.ready == 2 }
                #expect(status.configuration.error == reason + " (and 1 more)")
                #expect(status.needsAttention)
                let call = try await world.agent.call("status", "--json")
                #expect(call.code == 1 && call.output.contains("\"configuration\": { \"error\": \"\(file):2: "))
                let lines = try await world.agent.call("status").output
                #expect(lines.hasPrefix("CONFIGURATION REJECTED: "), "\(lines)")
                #expect(lines.contains("\n  \(reason) (and 1 more)\n"), "\(lines)")
                let settings = try await world.agent.call("config").output
                #expect(settings.contains(#/fetch\.perHost +3 +/#), "\(settings)")

                try write("[fetch]\nperHost = 5\n", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.configuration.error == nil }
                #expect(try await world.agent.call("config").output.contains(#/fetch\.perHost +5 +/#))
            }
        }
    }

    @Test("of every setting in the file, SIGHUP either puts it in force and tells it, or says that it takes a restart")
    func everySetting() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "")
            try await world.agent.whileRunning { agent in
                var new = Settings()
                var text = ""
                // A file with certificates has to be there.
                let keys = SettingKey.all.filter {
                    $0.name != "fetch.caFile" && !SettingSamples.fixed.contains($0.name)
                }
                for key in keys { try key.set(try #require(SettingSamples.all[key.name]), in: &new) }
                for table in SettingKey.tables {
                    text += "[\(table)]\n"
                    for key in keys where key.table == table { text += "\(key.key) = \(key.literal(in: new))\n" }
                }
                try await world.agent.status { $0.pid != nil }
                let before = try await Self.settings(of: world)
                try write(text, to: file)
                try Self.reload(agent)
                var events = ""
                try await waitUntil {
                    events = try await world.agent.call("events", "--json").output
                    return events.contains("configuration-reloaded")
                }
                let after = try await Self.settings(of: world)
                // What the environment and the options of this world say goes before the file.
                let ofFile = keys.filter { after[$0.name]?.source == "file" }
                #expect(ofFile.count > keys.count / 2)
                for key in ofFile {
                    let setting = try #require(after[key.name])
                    let isNow = key.effect == .reload
                    #expect(setting.needsRestart == !isNow, "\(key.name)")
                    #expect(setting.value == (isNow ? key.shownValue(in: new) : before[key.name]?.value), "\(key.name)")
                    #expect(events.contains(" \(key.name)") == isNow, "\(key.name)")
                }
                let waiting = ofFile.filter { $0.effect == .restart }.map(\.name)
                let status = try await world.agent.status { $0.configuration.needRestart == waiting }
                let notice = status.problems.first { $0.code == "settings-need-restart" }
                #expect(notice?.count == waiting.count && notice?.severity == .notice)
                try write("", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.configuration.needRestart == [] }
            }
        }
    }

    private static func settings(of world: World) async throws -> [String: SettingsReport.Setting] {
        let json = try await world.agent.call("config", "--json").output
        let report = try JSONDecoder().decode(SettingsReport.self, from: Data(json.utf8))
        return Dictionary(uniqueKeysWithValues: report.settings.map { ($0.key, $0) })
    }

    @Test("what takes a restart is named, and the rest of the file holds")
    func restart() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "")
            try await world.agent.whileRunning { agent in
                try write("[cache]\nmode = \"0750\"\ngrace = \"1h\"\n", to: file)
                try Self.reload(agent)
                try await waitUntil { try await world.agent.call("config").output.contains(#/cache\.grace +1h +/#) }
                let output = try await world.agent.call("config").output
                #expect(output.contains("agent   is running (process \(agent.value))"))
                let mode = output.split(separator: "\n").first { $0.hasPrefix("cache.mode") }
                #expect(mode?.contains("0755") == true, "\(output)")
                #expect(mode?.hasSuffix("\(file):2; the configured value needs a restart") == true, "\(output)")
                let json = try await world.agent.call("config", "--json").output
                #expect(
                    json.contains(
                        "{ \"key\": \"cache.grace\", \"variable\": \"SYNCAGENT_CACHE_GRACE\", \"value\": \"1h\", \"default\": \"10m\", \"source\": \"file\", \"place\": \"\(file):3\", \"needsRestart\": false }"
                    ), "\(json)")
            }
        }
    }

    @Test("a bad configuration, from wherever it is, keeps the agent from starting, and all that is wrong is named")
    func badStart() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[fetch]\nperHost = 0\nconcurency = 3\n")
            let wrong = world.setting("SYNCAGENT_FETCH_MAX_BYTES", "many")
            let end = try await wrong.agent.call("run", "--once", "--set", "images.maxSide=0")
            #expect(end.code == 78)
            let places = ["\(file):2", "\(file):3", "SYNCAGENT_FETCH_MAX_BYTES", "--set"]
            let messages = end.messages.split(separator: "\n")
            #expect(messages.count == places.count)
            for (message, place) in zip(messages, places) {
                #expect(message.hasPrefix("syncagent: \(place): "), "\(message)")
            }
            let missing = try await plain.agent.call("run", "--once", "--config", "/nonexistent/c.toml")
            #expect(missing.code == 78)
            #expect(
                missing.messages
                    == "syncagent: /nonexistent/c.toml: The file does not exist. Create it, or name another one.\n")
        }
    }

    @Test("commands go by the agent's settings, or by its file: not by the environment of their caller")
    func callers() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[network]\ndenyHosts = [\"denied.example\"]\n")
            let caller = world.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "other.example")
            let list = world.folder.appending("new.plist")
            try write("( \"http://denied.example/a.png\", \"http://other.example/a.png\" )", to: list)
            let answer = try await caller.agent.call("check", list.string, "--config", file.string).output
            #expect(answer.contains("denied.example/a.png: network.denyHosts"), "\(answer)")
            #expect(!answer.contains("other.example/a.png: network.denyHosts"), "\(answer)")
            try await world.agent.whileRunning { _ in
                for wrong in ["nonsense", "foo=1", "render.sizes=1"] {
                    let end = try await world.agent.call("pause", "--set", wrong)
                    #expect(end.code == 78 && end.messages.hasPrefix("syncagent: --set: "), "\(end)")
                }
                #expect(try await world.agent.status { $0.pid != nil }.state == .running)
                let asked = try await caller.agent.call("check", list.string).output
                #expect(asked.contains("denied.example/a.png: network.denyHosts"), "\(asked)")
                #expect(!asked.contains("other.example/a.png: network.denyHosts"), "\(asked)")
            }
            // What run would use has the environment in it.
            let own = try await caller.agent.call("config", "--config", file.string).output
            #expect(own.contains(#/network\.denyHosts +other\.example +SYNCAGENT_NETWORK_DENY_HOSTS\n/#), "\(own)")
            let set = try await world.agent.call("config", "--config", file.string, "--set", "fetch.perHost=9").output
            #expect(set.contains(#/fetch\.perHost +9 +--set\n/#), "\(set)")
            #expect(set.contains("\(file):2"))
        }
    }

    @Test("config check names all errors of all files; config default passes it")
    func check() async throws {
        try await World.with { world in
            let program = BuiltProducts.path("syncagent").string
            let (bad, good) = (world.folder.appending("bad.toml"), world.folder.appending("good.toml"))
            try write("[fetch]\nperHost = 0\n[cach]\n", to: bad)
            let defaults = try await Program.run(program, "config", "default")
            #expect(defaults.output == SettingKey.defaultFile && defaults.code == 0)
            try write(defaults.output, to: good)
            let check = try await Program.run(program, "config", "check", bad.string, good.string)
            #expect(check.code == 78 && check.messages.isEmpty)
            #expect(
                check.output == """
                    \(bad):2: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000.
                    \(bad):3: There is no table [cach]: did you mean [cache]?
                    \(good): no errors

                    """)
            #expect(try await Program.run(program, "config", "check", good.string).code == 0)
            try write("[fetch]\ncaFile = \"/nonexistent\"\n", to: bad)
            let file = try await Program.run(program, "config", "check", bad.string)
            #expect(file.code == 78 && file.output.hasPrefix("\(bad):2: fetch.caFile: "), "\(file.output)")
            try write("[control]\ngroup = \"no-such-group\"\n", to: bad)
            let group = try await Program.run(program, "config", "check", bad.string)
            #expect(
                group.code == 78 && group.output.hasPrefix("\(bad):2: control.group: there is no group"), "\(group)")
            try write("[upstream]\nfallback = \"never\"\n", to: good)
            let warned = try await Program.run(program, "config", "check", good.string)
            #expect(warned.code == 0 && warned.output.contains("warning: upstream.fallback is never, but"), "\(warned)")
            #expect(try await Program.run(program, "config", "man").output == SettingKey.manualPage)
        }
    }
}
