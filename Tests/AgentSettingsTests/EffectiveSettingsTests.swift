// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import SyncPlan
import TestSupport
import Testing

@Suite("Settings from several places")
struct EffectiveSettingsTests {
    /// A file with a setting.
    private static func file(_ key: SettingKey, _ value: String) throws -> ConfigurationFile {
        var settings = Settings()
        try key.set(value, in: &settings)
        return ConfigurationFile(path: "f", text: "[\(key.table)]\n\(key.key) = \(key.literal(in: settings))\n")
    }

    @Test("every setting comes from the file, the environment and an option; the later one wins")
    func everySetting() throws {
        #expect(Set(SettingSamples.all.keys) == Set(SettingKey.all.map(\.name)))
        for key in SettingKey.all {
            let value = try #require(SettingSamples.all[key.name])
            var expected = Settings()
            try key.set(value, in: &expected)
            #expect(expected != Settings() || SettingSamples.fixed.contains(key.name), "\(key.name) has its default")

            var ofFile = EffectiveSettings()
            ofFile.apply(try Self.file(key, value))
            #expect(ofFile.settings == expected && ofFile.origin(of: key) == .file("f", line: 2), "\(ofFile.problems)")

            var ofEnvironment = EffectiveSettings()
            ofEnvironment.apply { $0 == key.variable ? value : nil }
            #expect(ofEnvironment.settings == expected && ofEnvironment.origin(of: key) == .variable(key.variable))

            var ofOption = EffectiveSettings()
            ofOption.apply(assignment: "\(key.name)=\(value)")
            #expect(ofOption.settings == expected && ofOption.origin(of: key) == .option("--set"))

            // The default, told by the one that wins.
            let preset = key.value(in: Settings())
            ofFile.apply { $0 == key.variable ? preset : nil }
            #expect(ofFile.settings == (preset.isEmpty ? expected : Settings()), "\(key.name)")
            ofFile.apply(assignment: "\(key.name)=\(value)")
            #expect(ofFile.settings == expected && ofFile.origin(of: key) == .option("--set"))
            #expect(ofFile.problems.isEmpty)
        }
    }

    @Test("all problems of settings are reported, each with its place")
    func problems() {
        var effective = EffectiveSettings()
        effective.apply(ConfigurationFile(path: "f", text: "[fetch]\nperHost = 0"))
        effective.apply { $0 == "SYNCAGENT_FETCH_CONCURRENCY" ? "many" : nil }
        for assignment in ["fetch.perHost", "fetch.perhost=1", "images.allowSVG=yes"] {
            effective.apply(assignment: assignment)
        }
        #expect(
            effective.problems.map(\.description) == [
                "f:2: “0” is not a value for fetch.perHost: it takes a whole number from 1 to 1000.",
                "SYNCAGENT_FETCH_CONCURRENCY: “many” is not a value for fetch.concurrency: it takes a whole number from 1 to 1000.",
                "--set: “fetch.perHost” is not an assignment: write --set KEY=VALUE.",
                "--set: There is no setting fetch.perhost: did you mean fetch.perHost?",
                "--set: “yes” is not a value for images.allowSVG: it takes true or false.",
            ])
        #expect(effective.settings == Settings())
    }

    @Test(
        "settings that contradict each other are told, each with its place",
        arguments: [
            (
                "[fetch]\nretryMax = \"1m\"\nretryBase = \"2m\"",
                "f:3: fetch.retryBase (2m) is longer than fetch.retryMax (1m, f:2): lower the one, or raise the other."
            ),
            (
                "lists.settle = \"3s\"",
                "f:1: lists.settle (3s) is longer than lists.settleMax (2s, the default): lower the one, or raise the other."
            ),
            (
                "lists.settleMax = \"0s\"",
                "f:1: lists.settle (100ms, the default) is longer than lists.settleMax (0s): lower the one, or raise the other."
            ),
            (
                "dashboard.listen = \"127.0.0.1:80\"\nserve.listen = \"0.0.0.0:80\"",
                "f:1: dashboard.listen (127.0.0.1:80) has the same port as serve.listen (0.0.0.0:80, f:2): use another port."
            ),
            (
                "dashboard.listen = \"127.0.0.1:80\"\nserve.listen = \"[::]:80\"",
                "f:1: dashboard.listen (127.0.0.1:80) has the same port as serve.listen ([::]:80, f:2): use another port."
            ),
            ("dashboard.listen = \"[::1]:80\"\nserve.listen = \"0.0.0.0:80\"", nil),
            (
                "serve.listen = \"[::1]:80\"\nmetrics.listen = \"[::1]:80\"",
                "f:1: serve.listen ([::1]:80) has the same port as metrics.listen ([::1]:80, f:2): use another port."
            ),
            ("dashboard.listen = \"127.0.0.1:0\"\nserve.listen = \"127.0.0.1:0\"", nil),
            ("dashboard.listen = \"127.0.0.1:80\"\nserve.listen = \"192.0.2.1:80\"", nil),
            ("lists.settle = \"2s\"\nfetch.retryBase = \"10m\"", nil),
        ] as [(String, String?)])
    func contradictions(text: String, problem: String?) {
        var effective = EffectiveSettings()
        effective.apply(ConfigurationFile(path: "f", text: text))
        #expect(effective.problems.map(\.description) == [problem].compactMap(\.self))
        // What has its default here may be set in the agent's environment.
        let isCertain = problem.map { !$0.contains("the default") } ?? false
        #expect(effective.certainProblems.isEmpty != isCertain)
    }

    @Test("an empty variable counts as not set")
    func empty() {
        var effective = EffectiveSettings()
        effective.apply(environment: { _ in "" })
        #expect(effective.settings == Settings() && effective.problems.isEmpty)
    }

    @Test("a reload changes what it can, and names what takes a restart")
    func change() throws {
        for key in SettingKey.all where !SettingSamples.fixed.contains(key.name) {
            var new = Settings()
            try key.set(try #require(SettingSamples.all[key.name]), in: &new)
            let change = SettingsChange(from: Settings(), to: new)
            let isNow = key.effect == .reload
            #expect(change.changed == (isNow ? [key.name] : []) && change.needRestart == (isNow ? [] : [key.name]))
            #expect(change.settings == (isNow ? new : Settings()), "\(key.name)")
        }
        let none = SettingsChange(from: Settings(), to: Settings())
        #expect(none.changed.isEmpty && none.needRestart.isEmpty)
        var renewed = Settings()
        renewed.fetch.caDigest = Digest.of("other certificates")
        #expect(SettingsChange(from: Settings(), to: renewed).changed == ["fetch.caFile"])
    }

    @Test("the report has each setting with its origin, without passwords; others get the settings from it")
    func report() throws {
        var effective = EffectiveSettings()
        effective.apply(
            ConfigurationFile(path: "f", text: "[fetch]\nproxy = \"http://me:secret@p.example:1\"\nperHost = 2"))
        effective.apply { $0 == "SYNCAGENT_CACHE_MODE" ? "0750" : nil }
        var running = effective.settings
        running.cache.mode = .everybody
        let rows = effective.rows(running: running)
        #expect(rows.map(\.key) == SettingKey.all.map(\.name))
        #expect(rows.filter(\.needsRestart).map(\.key) == ["cache.mode"])
        let proxy = try #require(rows.first { $0.key == "fetch.proxy" })
        #expect(proxy.value == "…@p.example:1" && proxy.place == "f:2" && proxy.source == "file")
        let mode = try #require(rows.first { $0.key == "cache.mode" })
        #expect(mode.value == "0755" && mode.source == "environment" && mode.place == "SYNCAGENT_CACHE_MODE")
        let report = SettingsReport(
            file: "f", folders: .init(lists: "l", cache: "c", state: "s", socket: "o"), settings: rows)
        #expect(rows.filter { $0.redacted == true }.map(\.key) == ["fetch.proxy"])
        var unknown: [String] = []
        let same = Settings(report, configured: effective.settings, unknown: &unknown)
        #expect(same.fetch.proxy == "http://me:secret@p.example:1" && unknown.isEmpty)
        // Who cannot read the file learns that something is missing.
        let other = Settings(report, configured: Settings(), unknown: &unknown)
        #expect(other.fetch.perHost == 2 && other.fetch.proxy == nil && unknown == ["fetch.proxy"])
        #expect(!report.json.text.contains("secret"))
    }
}
