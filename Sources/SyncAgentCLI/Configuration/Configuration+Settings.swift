// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import AppLists
import ArgumentParser
import CacheFormat
import HTTPRules
import SyncAgent
import SyncPlan
import SystemPackage

extension Configuration {
    /// The settings of the running agent, or else those of its configuration file; `--set` wins over either.
    ///
    /// The environment of whoever calls is not that of the agent.
    ///
    /// The agent tells no passwords: they are those of its configuration file.
    ///
    /// - Parameter needed: The settings without which the command cannot go on.
    /// - Returns: The settings, as far as they are known.
    /// - Throws: Exit code 78 if one of those has a password that cannot be read, or something is wrong with `--set`.
    func agentSettings(needed: [String] = []) async throws -> Settings {
        guard let report = try await ControlClient(socket: folders().socket).settingsIfAnswered() else {
            return try settingsOrWarning()
        }
        var configured = EffectiveSettings()
        configured.apply(ConfigurationFile(path: report.file, isOptional: true))
        var unknown: [String] = []
        var effective = EffectiveSettings(Settings(report, configured: configured.settings, unknown: &unknown))
        for assignment in assignments { effective.apply(assignment: assignment) }
        try Self.end(because: effective.problems)
        let keys = unknown.compactMap(SettingKey.named)
        if let key = keys.first(where: { needed.contains($0.name) && effective.origin(of: $0) == .preset }) {
            throw Exit.because(
                "The agent's \(key.name) has a password, which cannot be read from \(report.file). Run this command as "
                    + "a user who can read it, or use --set \(key.name)=VALUE.",
                code: .badConfiguration)
        }
        return effective.settings
    }

    /// The settings of the file, the environment and the options, with all that is wrong with them.
    func effectiveSettings(_ place: Place, inEnvironment: Bool) -> EffectiveSettings {
        var effective = EffectiveSettings()
        effective.apply(ConfigurationFile(path: place.file.string, isOptional: !place.isFileNamed))
        if inEnvironment { effective.apply { Variable[$0] } }
        for assignment in assignments { effective.apply(assignment: assignment) }
        return effective
    }

    /// Names on stderr all that is wrong.
    ///
    /// - Throws: Exit code 78 if there is anything.
    static func end(because problems: [ConfigurationProblem]) throws {
        if !problems.isEmpty { throw exit(because: problems) }
    }

    /// Names on stderr all that is wrong, and gives the error that ends the command.
    static func exit(because problems: [ConfigurationProblem]) -> ExitCode {
        for problem in problems { Message.error("\(problem)") }
        return Exit.with(.badConfiguration)
    }

    /// Names on stderr the variables that look like settings and are none.
    static func warnOfUnknownVariables() {
        let known = Set(SettingKey.all.map(\.variable))
        for name in Variable.names where name.starts(withBytes: "SYNCAGENT_") && !known.contains(name) {
            let advice = SettingKey.nearest(toVariable: name).map { ": did you mean \($0.variable)?" } ?? "."
            Message.error("\(name) is not a setting and is ignored\(advice)")
        }
    }
}

extension ControlClient {
    /// The settings of the agent; `nil` if none answers, or one that cannot tell them.
    fileprivate func settingsIfAnswered() async -> SettingsReport? { try? await settings() }
}

/// What `run` runs with, and runs with after a reload.
struct RunSettings {
    let effective: EffectiveSettings
    let proxies: ProxyPolicy
    let place: Place

    var settings: Settings { effective.settings }

    /// Reads the file, the environment and the options.
    ///
    /// - Throws: All that is wrong with them.
    init(_ configuration: Configuration, _ place: Place, allowing networks: [AddressRange]) throws(ConfigurationError) {
        var effective = configuration.effectiveSettings(place, inEnvironment: true)
        if !networks.isEmpty {
            effective.apply(option: "--allow-network", to: "network.allow") { $0.network.allow += networks }
        }
        if effective.settings.fetch.caFile == nil, let file = Variable["SSL_CERT_FILE"] {
            effective.apply(variable: "SSL_CERT_FILE", to: "fetch.caFile") { $0.fetch.caFile = file }
        }
        var problems = effective.problems + effective.problemsOfMachine
        var proxies = ProxyPolicy()
        do {
            proxies = try ProxyPolicy(setting: effective.settings.fetch.proxy) { Variable[$0] }
        } catch {
            let key = SettingKey.named("fetch.proxy").map { effective.origin(of: $0) } ?? .preset
            problems.append(ConfigurationProblem(key == .preset ? "environment" : "\(key)", "\(error)"))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        (self.effective, self.proxies, self.place) = (effective, proxies, place)
    }

    /// The settings for those who ask the agent.
    ///
    /// - Parameter running: The settings in force, where some that are configured take a restart.
    /// - Returns: What `syncagent config` prints.
    func report(running: Settings? = nil) -> SettingsReport {
        SettingsReport(place, effective.rows(running: running))
    }
}

extension SettingsReport {
    init(_ place: Place, _ rows: [Setting]) {
        self.init(
            file: place.file.string,
            folders: Folders(
                lists: place.folders.lists.string, cache: place.folders.cache.string,
                state: place.folders.state.string, socket: place.folders.socket.string),
            settings: rows)
    }
}

extension EffectiveSettings {
    /// What is wrong with settings on this machine: a file of certificates that cannot be used, an unknown group.
    var problemsOfMachine: [ConfigurationProblem] { [problemOfCertificates, problemOfGroup].compactMap(\.self) }

    private var problemOfGroup: ConfigurationProblem? {
        guard let key = SettingKey.named("control.group") else { return nil }
        do throws(SocketAccess.UnknownGroup) {
            _ = try SocketAccess(settings)
            return nil
        } catch {
            return ConfigurationProblem("\(origin(of: key))", "\(error)")
        }
    }

    private var problemOfCertificates: ConfigurationProblem? {
        guard let file = settings.fetch.caFile, let key = SettingKey.named("fetch.caFile") else { return nil }
        do throws(CertificateFile.Flaw) {
            try CertificateFile.check(file)
            return nil
        } catch {
            return ConfigurationProblem("\(origin(of: key))", "fetch.caFile: \(error)")
        }
    }
}
