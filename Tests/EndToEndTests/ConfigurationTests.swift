// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import FoundationEssentials
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Configuration of an agent", .timeLimit(.minutes(15)))
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

    @Test("SIGHUP applies a changed file and retries what failed by the old one; a bad file changes no setting")
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
                expectContains(try await world.agent.call("list", "apps.plist").output, "8x8")

                try write("[images]\nallowSVG = true\n[lists]\nmaxEntries = 1\n", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.lists.first?.state == "last-good" }
                try write("[images]\nallowSVG = true\n[fetch]\nperHost = 3\n", to: file)
                // A list that came with the signal is read with it.
                try world.drop(["Maps"], as: "other.plist")
                try Self.reload(agent)
                try await world.agent.status { $0.lists.map(\.state) == ["ok", "ok"] && $0.icons.ready == 3 }

                try write("[fetch]\nperHost = 0\nconcurency = 3\n", to: file)
                try world.drop(["Maps", "Notes"], as: "other.plist")
                try Self.reload(agent)
                let status = try await world.agent.status { $0.configuration.error != nil && $0.icons.ready == 4 }
                try await Self.expectRejection(status, of: file, world)
                #expect(try await Self.line(of: "fetch.perHost", world)?.contains(#/ +3 +/#) == true)
                try write("[images]\nallowSVG = true\n[fetch]\nperHost = 5\n", to: file)
                try Self.reload(agent)
                try await world.agent.status { $0.configuration.error == nil }
                #expect(try await Self.line(of: "fetch.perHost", world)?.contains(#/ +5 +/#) == true)
            }
        }
    }

    /// Expects the status to tell of the errors in the first two settings of the file.
    private static func expectRejection(_ status: StatusReport, of file: FilePath, _ world: World) async throws {
        let reason = "\(file):2: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000."
        #expect(status.configuration.error == reason + " (and 1 more)")
        #expect(status.needsAttention)
        let call = try await world.agent.call("status", "--json")
        #expect(call.code == 1)
        expectContains(call.output, "\"configuration\": { \"error\": \"\(file):2: ")
        let lines = try await world.agent.call("status").output
        #expect(lines.hasPrefix("CONFIGURATION REJECTED: "), "\(lines)")
        expectContains(lines, "\n  \(reason) (and 1 more)\n")
    }

    @Test("SIGHUP applies each setting of the file, or says that it takes a restart")
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
                try await Self.expectPlaces(world, file, agent)
            }
        }
    }

    /// Expects `config` to show where a value stands in the file, and whether it takes a restart.
    private static func expectPlaces(_ world: World, _ file: FilePath, _ agent: ProcessIdentifier) async throws {
        try write("[cache]\nmode = \"0750\"\ngrace = \"1h\"\n", to: file)
        try reload(agent)
        try await waitUntil { try await line(of: "cache.grace", world)?.contains(#/ +1h +/#) == true }
        let mode = try await line(of: "cache.mode", world)
        #expect(mode?.contains("0755") == true)
        #expect(mode?.hasSuffix("\(file):2; the configured value needs a restart") == true)
        expectContains(
            try await world.agent.call("config").output, "agent   is running (process \(agent.value))")
        expectContains(
            try await world.agent.call("config", "--json").output,
            """
            { "key": "cache.grace", "variable": "SYNCAGENT_CACHE_GRACE", "value": "1h", "default": "10m", \
            "source": "file", "place": "\(file):3", "needsRestart": false }
            """)
    }

    /// What `config` shows of a setting, with the options.
    private static func line(of key: String, _ world: World, _ options: [String] = []) async throws -> String? {
        let output = try await world.agent.call(["config"] + options).output
        return output.split(separator: "\n").first { $0.hasPrefix("\(key) ") }.map(String.init)
    }

    private static func settings(of world: World) async throws -> [String: SettingsReport.Setting] {
        let json = try await world.agent.call("config", "--json").output
        let report = try JSONDecoder().decode(SettingsReport.self, from: Data(json.utf8))
        return Dictionary(uniqueKeysWithValues: report.settings.map { ($0.key, $0) })
    }

    @Test("reload does what SIGHUP does, and ends with the result; config shows one value, or what is not a default")
    func reloadCommand() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[fetch]\nperHost = 3\n")
            #expect(try await world.agent.call("reload").code == 69)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.pid != nil }
                let same = try await world.agent.call("reload")
                #expect(same.code == 0 && same.output == "Configuration reloaded: nothing changed.\n", "\(same)")
                try write("[fetch]\nperHost = 5\n[cache]\nmode = \"0750\"\n", to: file)
                let changed = try await world.agent.call("reload")
                #expect(changed.code == 0 && changed.output == "Configuration reloaded. Changed: fetch.perHost.\n")
                expectContains(changed.messages, "in force only after a restart: cache.mode")
                #expect(try await world.agent.call("config", "fetch.perHost").output == "5\n")
                let rows = try await world.agent.call("config", "--changed").output
                expectContains(rows, "\nfetch.perHost ", "\ncache.mode ")
                #expect(!rows.contains("\nfetch.maxBytes "))
                let table = try await world.agent.call("config", "cache").output
                #expect(table.hasPrefix("SETTING ") && !table.contains("fetch."), "\(table)")
                let unknown = try await world.agent.call("config", "fetch.perhost")
                #expect(unknown.code == 64)
                expectContains(unknown.messages, "There is no setting fetch.perhost. Did you mean fetch.perHost?")

                try write("[fetch]\nperHost = 0\nconcurency = 3\n", to: file)
                let bad = try await world.agent.call("reload")
                #expect(bad.code == 78 && bad.output.isEmpty)
                expectContains(
                    bad.messages, "\(file):2: “0” is not a value for fetch.perHost", "\(file):3: ",
                    "Not reloaded: all settings stay as they were.")
                let json = try await world.agent.call("reload", "--json")
                #expect(json.code == 78)
                expectContains(
                    json.output, "{ \"format\": 1, \"changed\": [], \"needRestart\": [], \"errors\": [ \"\(file):2: ")
                #expect(try await world.agent.status { $0.configuration.error != nil }.needsAttention)
                #expect(try await world.agent.call("config", "fetch.perHost").output == "5\n")
            }
        }
    }

    @Test("a bad configuration keeps the agent from starting; each error is named with its place")
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
            expectLines(
                missing.messages,
                "syncagent: /nonexistent/c.toml: The file does not exist. Create it, or name another one.\n")
            let group = try await plain.setting("SYNCAGENT_CONTROL_GROUP", "no-such-group").agent.call("run")
            #expect(group.code == 78)
            expectContains(group.messages, "control.group: there is no group “no-such-group”")
        }
    }

    @Test("commands use the settings of the agent, or of its file, not of the environment of their caller")
    func callers() async throws {
        try await World.with { plain in
            let (world, file) = try Self.world(plain, "[network]\ndenyHosts = [\"denied.example\"]\n")
            let caller = world.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "other.example")
            let list = world.folder.appending("new.plist")
            try write("( \"http://denied.example/a.png\", \"http://other.example/a.png\" )", to: list)
            let answer = try await caller.agent.call("check", list.string, "--config", file.string).output
            expectContains(answer, "denied.example/a.png: network.denyHosts")
            #expect(!answer.contains("other.example/a.png: network.denyHosts"))
            try await world.agent.whileRunning { _ in
                for wrong in ["nonsense", "foo=1", "render.sizes=1"] {
                    let end = try await world.agent.call("pause", "--set", wrong)
                    #expect(end.code == 78 && end.messages.hasPrefix("syncagent: --set: "), "\(end)")
                }
                #expect(try await world.agent.status { $0.pid != nil }.state == .running)
                let asked = try await caller.agent.call("check", list.string).output
                expectContains(asked, "denied.example/a.png: network.denyHosts")
                #expect(!asked.contains("other.example/a.png: network.denyHosts"))
            }
            // The environment counts for what run would use.
            let options = ["--config", file.string]
            let own = try await Self.line(of: "network.denyHosts", caller, options)
            #expect(own?.contains(#/ other\.example +SYNCAGENT_NETWORK_DENY_HOSTS$/#) == true)
            let set = try await Self.line(of: "fetch.perHost", world, options + ["--set", "fetch.perHost=9"])
            #expect(set?.contains(#/ 9 +--set$/#) == true)
            let ofFile = try await Self.line(of: "network.denyHosts", world, options)
            #expect(ofFile?.contains("\(file):2") == true)
        }
    }

    @Test("config check names all errors of all files, and accepts what config default prints")
    func check() async throws {
        try await withTemporaryFolder { folder in
            let program = BuiltProducts.path("syncagent").string
            let (bad, good) = (folder.appending("bad.toml"), folder.appending("good.toml"))
            try write("[fetch]\nperHost = 0\n[cach]\n", to: bad)
            let defaults = try await Program.run(program, "config", "default")
            expectLines(defaults.output, SettingKey.defaultFile)
            #expect(defaults.code == 0)
            try write(defaults.output, to: good)
            let check = try await Program.run(program, "config", "check", bad.string, good.string)
            #expect(check.code == 78 && check.messages.isEmpty)
            expectLines(
                check.output,
                """
                \(bad):2: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000.
                \(bad):3: There is no table [cach]: did you mean [cache]?
                \(good): no errors

                """)
            #expect(try await Program.run(program, "config", "check", good.string).code == 0)
            for (text, error) in [
                ("[fetch]\ncaFile = \"/nonexistent\"\n", "fetch.caFile: "),
                ("[control]\ngroup = \"no-such-group\"\n", "control.group: there is no group"),
            ] {
                try write(text, to: bad)
                let end = try await Program.run(program, "config", "check", bad.string)
                #expect(end.code == 78 && end.output.hasPrefix("\(bad):2: \(error)"), "\(end.output)")
            }
            if geteuid() == 0 { try await Self.expectUnreadable(good, folder) }
            try write("[upstream]\nfallback = \"never\"\n", to: good)
            let warned = try await Program.run(program, "config", "check", good.string)
            #expect(warned.code == 0)
            expectContains(warned.output, "warning: upstream.fallback is never, but")
            expectLines(try await Program.run(program, "config", "man").output, SettingKey.manualTables)
        }
    }

    /// Expects that a check by root tells what the agent's user, the owner of the state folder, cannot read.
    private static func expectUnreadable(_ file: FilePath, _ folder: FilePath) async throws {
        let (state, secret) = (folder.appending("state"), folder.appending("auth.toml"))
        try makeFolder(state)
        for path in [folder, state] { try #require(chown(path.string, 65534, 65534) == 0) }
        try write("", to: secret)
        chmod(secret.string, 0o600)
        let command = [
            BuiltProducts.path("syncagent").string, "config", "check", "--config", file.string, "--state", state.string,
        ]
        let warned = try await Program.run(command)
        #expect(warned.code == 0, "\(warned)")
        expectContains(warned.output, "\(secret): warning: the agent's user cannot read it: run chown ")
        try #require(chown(secret.string, 65534, 65534) == 0)
        chmod(file.string, 0o600)
        let closed = try await Program.run(command)
        #expect(closed.code == 0 && !closed.output.contains("chown"), "\(closed)")
        expectContains(closed.output, "\(file): warning: the agent's user (")
        try #require(unlink(secret.string) == 0)
        chmod(file.string, 0o644)
    }
}
