// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import Glibc
import SyncAgent
import SyncPlan
import SystemPackage

/// The options that every command takes, and what comes of them and of the environment.
struct Configuration: ParsableArguments {
    @Option(
        help: ArgumentHelp("The lists folder, where app lists are dropped.", valueName: "dir"), completion: .directory)
    var lists: String?

    @Option(
        help: ArgumentHelp("The cache folder, which other programs read.", valueName: "dir"), completion: .directory)
    var cache: String?

    @Option(help: ArgumentHelp("The folder for the agent's private state.", valueName: "dir"), completion: .directory)
    var state: String?

    @Option(help: ArgumentHelp("The control socket of the agent.", valueName: "path"), completion: .file())
    var socket: String?

    /// Where everything is: as the options say, else in the user's own folders (XDG Base Directory Specification).
    func folders() throws -> AgentFolders {
        let state = try folder(state, variable: "XDG_STATE_HOME", fallback: ".local/state")
        // Without a runtime folder, as in a cron job, the socket is in the state folder, which is private too.
        let socket = try socket.map(absolute) ?? runtimeFolder().appending("control.sock")
        let cache = try folder(cache, variable: "XDG_CACHE_HOME", fallback: ".cache")
        guard cache != state else {
            throw ValidationError("--cache and --state are the same folder (\(cache)): use two folders.")
        }
        return AgentFolders(
            lists: try folder(lists, variable: "XDG_CONFIG_HOME", fallback: ".config", inside: "lists.d"), cache: cache,
            state: state, socket: socket)

        func runtimeFolder() -> FilePath {
            Variable["XDG_RUNTIME_DIR"].map { FilePath($0).appending("syncagent") } ?? state
        }
    }

    /// The settings, as the environment has them; stderr names variables that look like settings and are none.
    ///
    /// - Throws: Exit code 78 if a variable is not of its setting's form.
    func settings() throws -> Settings {
        _ = Self.warningOfUnknownVariables
        var settings = Settings()
        for key in SettingKey.all {
            guard let text = Variable[key.variable] else { continue }
            do {
                try key.set(text, in: &settings)
            } catch {
                throw Exit.because("\(key.variable): \(error)", code: .badConfiguration)
            }
        }
        return settings
    }

    /// Warns once, however often the settings are wanted.
    private static let warningOfUnknownVariables: Void = {
        let known = Set(SettingKey.all.map(\.variable))
        for name in ProcessInfo.processInfo.environment.keys.sorted()
        where name.hasPrefix("SYNCAGENT_") && !known.contains(name) {
            let advice = SettingKey.nearest(to: name).map { ": did you mean \($0.variable)?" } ?? "."
            Message.error("\(name) is not a setting and is ignored\(advice)")
        }
    }()

    private func folder(
        _ option: String?, variable: String, fallback: String, inside: String? = nil
    ) throws -> FilePath {
        if let option { return try absolute(option) }
        let base: FilePath
        // A relative path in one of these variables is to be ignored, the specification says.
        if let path = Variable[variable].map({ FilePath($0) }), path.isAbsolute {
            base = path
        } else if let home = Variable["HOME"].map({ FilePath($0) }), home.isAbsolute {
            base = home.appending(FilePath(fallback).components)
        } else {
            throw Exit.because(
                "Neither \(variable) nor HOME is an absolute path: set one of them, or use --lists, --cache, --state and --socket.",
                code: .badConfiguration)
        }
        let folder = base.appending("syncagent")
        return inside.map { folder.appending($0) } ?? folder
    }

    private func absolute(_ text: String) throws -> FilePath {
        guard !text.isEmpty else { throw ValidationError("The path of a folder or socket is empty.") }
        let path = FilePath(text)
        if path.isAbsolute { return path.lexicallyNormalized() }
        guard let here = getcwd(nil, 0) else {
            throw Exit.because(
                "The current directory was removed: give \(text) as an absolute path.", code: .badConfiguration)
        }
        defer { free(here) }
        return FilePath(platformString: here).appending(path.components).lexicallyNormalized()
    }
}

/// The environment; a variable that is set to nothing counts as not set.
enum Variable {
    static subscript(name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
