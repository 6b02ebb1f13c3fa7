import AgentServer
import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Reports
import SyncAgent
import SystemPackage

extension Configuration {
    /// The folders of the agent that answers at the socket, else those of the options; they can differ with `--socket`
    /// alone.
    ///
    /// Without `isAnswered`, no agent is asked.
    func agentFolders(isAnswered: Bool = true) async throws -> AgentFolders {
        try await agentPlace(isAnswered: isAnswered).folders
    }

    /// The cache folder; if the options name only the socket, the agent is asked for it.
    func cacheFolder() async throws -> FilePath {
        try await agentFolders(isAnswered: socket != nil && cache == nil).cache
    }

    func context(for report: StatusReport) async throws -> CommandContext {
        let isAnswered = [.running, .paused].contains(report.state) && report.reachable
        let (folders, file) = try await agentPlace(isAnswered: isAnswered)
        let isSystem = folders.cache == PlaceChoice.system.folders.cache
        let options = options(isAnswered: isAnswered)
        var context = CommandContext(
            options: options,
            start: StartCommand.text(
                isSystem: isSystem, isRoot: geteuid() == 0, options: options, hasUnit: Self.hasUnit),
            isSystem: isSystem,
            lists: folders.lists.string, cache: folders.cache.string, file: file)
        context.isClosed = ControlClient(socket: folders.socket).obstacle == .permissionDenied
        return context
    }

    /// The folders and the configuration file of the agent that answers, else those of the options.
    func agentPlace(isAnswered: Bool = true) async throws -> (folders: AgentFolders, file: String) {
        let client = ControlClient(socket: try folders().socket)
        return try agentPlace(of: isAnswered ? (try? await client.settings()) : nil)
    }

    /// The folders and the configuration file of the agent that answered with this report, else those of the options.
    func agentPlace(of report: SettingsReport?) throws -> (folders: AgentFolders, file: String) {
        let own = try place()
        guard let report else { return (own.folders, own.file.string) }
        let folders = AgentFolders(
            lists: FilePath(report.folders.lists), cache: FilePath(report.folders.cache),
            state: FilePath(report.folders.state), socket: own.folders.socket)
        return (folders, report.file)
    }

    /// A suggested command, with the options that reach the agent which answered this command.
    func agentCommand(_ command: String) -> String {
        CommandContext(options: options(isAnswered: true)).command(command)
    }

    /// A suggested command that may work without an agent, with this command's options for its folders.
    func command(_ command: String) -> String { CommandContext(options: options(isAnswered: false)).command(command) }

    /// The options of this command that reach the same agent; `--socket` is enough if an agent answers there.
    private func options(isAnswered: Bool) -> [String] {
        let socket = socket.map { "--socket \(ShellWord.quoted($0))" }
        if isAnswered, let socket { return [socket] }
        let named = [("--config", config), ("--lists", lists), ("--cache", cache), ("--state", state)]
        return (owner.map { ["--\($0.rawValue)"] } ?? [])
            + named.compactMap { name, value in value.map { "\(name) \(ShellWord.quoted($0))" } }
            + (socket.map { [$0] } ?? [])
    }

    /// Whether systemd has a unit for the system's agent, or for the user's.
    private static func hasUnit(isSystem: Bool) -> Bool {
        let own = [Variable["XDG_CONFIG_HOME"] ?? Variable["HOME"].map { $0 + "/.config" }].compactMap(\.self)
        let kind = isSystem ? "system" : "user"
        let folders =
            (isSystem ? [] : own.map { $0 + "/systemd/user" })
            + ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { "\($0)/systemd/\(kind)" }
        return folders.contains { access($0 + "/syncagent.service", F_OK) == 0 }
    }

    /// The settings of the configuration file, and what is wrong in it as a sentence; invalid settings have their
    /// defaults.
    ///
    /// - Throws: Exit code 78 if `--set` is wrong.
    func settingsOrDefaults() throws -> (settings: Settings, trouble: String?) {
        let given = try checkAssignments()
        let place = try place()
        if access(place.file.string, R_OK) != 0, errno == EACCES {
            Message.error(
                "Cannot read \(place.file): Permission denied. This command uses the default settings. Run it as the "
                    + "agent's user, or with sudo.")
            return (given, nil)
        }
        let effective = effectiveSettings(place, inEnvironment: false)
        guard let first = effective.certainProblems.first else { return (effective.settings, nil) }
        let count = effective.certainProblems.count
        return (effective.settings, count == 1 ? "\(first)" : "\(counted(count, "error")), the first: \(first)")
    }

    /// The settings for commands that show no status: problems in the configuration file go to stderr.
    func settingsOrWarning() throws -> Settings {
        let (settings, trouble) = try settingsOrDefaults()
        if let trouble {
            let check = "syncagent config check \(ShellWord.quoted(try place().file.string))"
            Message.error(
                "The configuration has errors (\(trouble)). This command uses defaults for the invalid settings. See: "
                    + check)
        }
        return settings
    }
}

extension StatusReport {
    /// Whether the status was read from disk with default settings, because the configuration is invalid.
    var hasBadConfiguration: Bool { state == .stopped && !reachable && configuration.error != nil }
}
