// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import AppLists
import ArgumentParser
import CacheFormat
import HTTPRules
import IconCache
import SyncAgent
import SystemPackage

extension Configuration {
    /// The report of the running agent on its settings and folders, for a command that can do without; if an agent runs
    /// but cannot be asked, stderr says so.
    func settingsReport() async throws -> SettingsReport? {
        let file = try place().file
        let question = { (client: ControlClient) in try await client.settings() }
        let used = file.isMissing ? "the default settings" : "the settings in \(file)"
        return try await askIfPossible(question, otherwise: "This command uses \(used), not those of the agent.").answer
    }

    /// The settings of the agent that answered with this report, else of the configuration file; `--set` overrides both.
    ///
    /// Environment variables are ignored: the caller's environment is not the agent's. The agent does not send
    /// passwords; they are read from its configuration file.
    ///
    /// - Throws: Exit code 78 if the password of a setting in `needed` cannot be read, or `--set` is wrong.
    func agentSettings(of report: SettingsReport?, needed: [String] = []) throws -> Settings {
        guard let report else { return try settingsOrWarning() }
        var configured = EffectiveSettings()
        configured.apply(ConfigurationFile(path: report.file, isOptional: true))
        var unknown: [String] = []
        var settings = Settings(report, configured: configured.settings, unknown: &unknown)
        settings.keys = configured.settings.keys
        var effective = EffectiveSettings(settings)
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

    /// The settings of the file, the environment and the options, with all their problems.
    func effectiveSettings(_ place: Place, inEnvironment: Bool) -> EffectiveSettings {
        var effective = EffectiveSettings()
        effective.apply(ConfigurationFile(path: place.file.string, isOptional: !place.isFileNamed))
        if inEnvironment { effective.apply { Variable[$0] } }
        for assignment in assignments { effective.apply(assignment: assignment) }
        return effective
    }

    /// The settings of `--set` alone; prints their problems to stderr, and throws exit code 78 if there are any.
    @discardableResult
    func checkAssignments() throws -> Settings {
        var effective = EffectiveSettings()
        for assignment in assignments { effective.apply(assignment: assignment) }
        try Self.end(because: effective.certainProblems)
        return effective.settings
    }

    /// Prints the problems to stderr, and throws exit code 78 if there are any.
    static func end(because problems: [ConfigurationProblem]) throws {
        if !problems.isEmpty { throw exit(because: problems) }
    }

    /// Prints the problems to stderr; returns the error that ends the command.
    static func exit(because problems: [ConfigurationProblem]) -> ExitCode {
        for problem in problems { Message.error("\(problem)") }
        return Exit.with(.badConfiguration)
    }

    /// Warns of environment variables that begin with `SYNCAGENT_` but name no setting.
    static func warnOfUnknownVariables() {
        let known = Set(SettingKey.all.map(\.variable))
        for name in Variable.names where name.starts(withBytes: "SYNCAGENT_") && !known.contains(name) {
            let advice = SettingKey.nearest(toVariable: name).map { ": did you mean \($0.variable)?" } ?? "."
            Message.error("\(name) is not a setting and is ignored\(advice)")
        }
    }
}

extension EffectiveSettings {
    /// Applies the variable by which other programs are told of certificates.
    mutating func applyCertificatesOfShell() {
        guard settings.fetch.caFile == nil, let file = Variable["SSL_CERT_FILE"] else { return }
        apply(.variable("SSL_CERT_FILE"), to: "fetch.caFile") { $0.fetch.caFile = file }
    }
}

struct ConfigurationError: Error {
    var problems: [ConfigurationProblem]
}

/// The configuration that `run` uses, at start and after a reload.
struct RunSettings {
    let effective: EffectiveSettings
    let proxies: ProxyPolicy
    let place: Place
    let settings: Settings

    /// Reads the file, the environment and the options; throws all problems found.
    init(_ configuration: Configuration, _ place: Place, allowing networks: [AddressRange]) throws(ConfigurationError) {
        var effective = configuration.effectiveSettings(place, inEnvironment: true)
        if !networks.isEmpty {
            effective.apply(.option("--allow-network"), to: "network.allow") { $0.network.allow += networks }
        }
        effective.applyCertificatesOfShell()
        let credentials = CredentialsFile(beside: place.file)
        effective.apply(credentials)
        var problems =
            effective.problems + effective.problemsOfMachine + effective.certificateProblems(in: credentials.path)
        var proxies = ProxyPolicy()
        do {
            proxies = try ProxyPolicy(setting: effective.settings.fetch.proxy) { Variable[$0] }
        } catch {
            let key = SettingKey.named("fetch.proxy").map { effective.origin(of: $0) } ?? .preset
            problems.append(ConfigurationProblem(key == .preset ? "environment" : "\(key)", "\(error)"))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        var settings = effective.settings
        settings.fetch.caDigest = settings.fetch.caFile.flatMap { try? FileBytes.read(FilePath($0)) }.map(Digest.of)
        (self.effective, self.proxies, self.place, self.settings) = (effective, proxies, place, settings)
    }

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
    /// Problems on this machine: an unusable certificate file, an unknown group.
    var problemsOfMachine: [ConfigurationProblem] {
        let certificates = problem(of: "fetch.caFile", "fetch.caFile: ") {
            if let file = settings.fetch.caFile { try CertificateFile.check(file) }
        }
        let group = problem(of: "control.group") { _ = try SocketAccess(settings) }
        return [certificates, group].compactMap(\.self)
    }

    /// Problems of the client certificates on this machine; `path` is the file of credentials that names them.
    func certificateProblems(in path: String) -> [ConfigurationProblem] {
        settings.credentials.entries.compactMap { entry in
            do throws(CertificateFile.Flaw) {
                if let certificate = entry.certificate { try CertificateFile.check(certificate) }
                return nil
            } catch {
                return ConfigurationProblem(path, "The certificate for \(entry.host): \(error)")
            }
        }
    }

    private func problem(
        of key: String, _ beginning: String = "", _ check: () throws -> Void
    ) -> ConfigurationProblem? {
        do {
            try check()
            return nil
        } catch {
            return SettingKey.named(key).map { ConfigurationProblem("\(origin(of: $0))", "\(beginning)\(error)") }
        }
    }
}
