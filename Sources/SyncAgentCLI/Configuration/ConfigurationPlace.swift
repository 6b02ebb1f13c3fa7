// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CLinux
import CacheFormat
import HTTPRules
import SyncAgent
import SystemPackage

struct Place: Equatable {
    var folders: AgentFolders
    var file: FilePath
    /// Whether `--config` names the file, which must then exist.
    var isFileNamed = false
}

extension CredentialsFile {
    /// Reads the credentials file beside a configuration file; systemd's copy of it (`LoadCredential=` in
    /// systemd.exec(5)) is preferred.
    init(beside configuration: FilePath, isChecked: Bool = false) {
        let copy = Variable["CREDENTIALS_DIRECTORY"].map { FilePath($0).appending(Credentials.file) }
        if let copy, !copy.isMissing {
            self.init(path: copy.string, isGuarded: true)
        } else {
            let path = configuration.removingLastComponent().appending(Credentials.file)
            self.init(path: path.string, isChecked: isChecked)
        }
        // A core dump would contain the secrets. A failure is ignored: everything works without this protection.
        if !credentials.isEmpty { _ = process_control(PR_SET_DUMPABLE, 0, nil) }
    }
}

/// Determines the folders of a command, from options, then systemd's variables, then the user's own folders.
///
/// Commands other than `run` choose the system's agent if only it has a socket or a cache, or if only its lists folder
/// exists, as after installing the package.
struct PlaceChoice {
    struct Failure: Error, Equatable, CustomStringConvertible {
        var description: String
        /// The exit code for a wrong command line or environment.
        var code: Exit.Code

        init(_ description: String, _ code: Exit.Code) {
            (self.description, self.code) = (description, code)
        }
    }

    /// The variables and files that the place depends on, besides the options.
    struct Environment {
        var variable: (String) -> String?
        /// The current directory; `nil` if it was removed.
        var directory: () -> FilePath?
        var exists: (FilePath) -> Bool
        /// Where a symbolic link leads; `nil` if it cannot be read.
        var target: (FilePath) -> FilePath?
        /// Whether a process listens at a socket; the socket of a process that was killed is still there.
        var isAnswered: (FilePath) -> Bool
        /// Whether the first path is the second one, or inside it; the default does not know links.
        var isInside: (FilePath, FilePath) -> Bool = { $0.starts(with: $1) }
    }

    static let system = Place(
        folders: AgentFolders(
            lists: "/etc/syncagent/lists.d", cache: "/var/cache/syncagent", state: "/var/lib/syncagent",
            socket: "/run/syncagent/control.sock"),
        file: "/etc/syncagent/syncagent.toml")

    var config: String?
    var lists: String?
    var cache: String?
    var state: String?
    var socket: String?
    var owner: Configuration.Owner?
    var toRun = false

    func place(in environment: Environment) throws(Failure) -> Place {
        func absolute(_ text: String) throws(Failure) -> FilePath {
            guard !text.isEmpty else { throw Failure("The path of a folder, file or socket is empty.", .usage) }
            let path = FilePath(text)
            if path.isAbsolute { return path.lexicallyNormalized() }
            guard let here = environment.directory() else {
                throw Failure("The current directory was removed: give \(text) as an absolute path.", .badConfiguration)
            }
            return here.appending(path.components).lexicallyNormalized()
        }
        var place = try base(environment)
        if let lists { place.folders.lists = try absolute(lists) }
        if let cache { place.folders.cache = try absolute(cache) }
        if let state { place.folders.move(state: try absolute(state)) }
        if let socket {
            place.folders.socket = try absolute(socket)
        } else if !toRun, let running = environment.target(place.folders.socketLink), running != place.folders.socket,
            environment.exists(running), !environment.isAnswered(place.folders.socket)
        {
            place.folders.socket = running
        }
        if let config { (place.file, place.isFileNamed) = (try absolute(config), true) }
        guard place.folders.cache != place.folders.state else {
            throw Failure("--cache and --state are the same folder (\(place.folders.cache)): use two folders.", .usage)
        }
        try check(place.folders, environment.isInside)
        return place
    }

    /// Refuses folders whose files the agent would take for others: its documents and events for lists, say.
    ///
    /// Other names in the cache folder are free.
    private func check(
        _ folders: AgentFolders, _ isInside: (FilePath, FilePath) -> Bool
    ) throws(Failure) {
        let others = [
            ("lists folder", "lists", folders.lists), ("state folder", "state", folders.state),
            ("socket", "socket", folders.socket),
        ]
        let own = CacheLayout.entries.map { folders.cache.appending($0) }
        func collides(_ path: FilePath) -> Bool {
            isInside(path, folders.cache) && (isInside(folders.cache, path) || own.contains { isInside(path, $0) })
        }
        for (noun, option, path) in others where collides(path) {
            throw Failure(
                "The \(noun) (\(path)) is in the cache folder (\(folders.cache)): choose another place with --\(option).",
                .usage)
        }
        guard isInside(folders.lists, folders.state), isInside(folders.state, folders.lists) else { return }
        throw Failure("--lists and --state are the same folder (\(folders.lists)): use two folders.", .usage)
    }

    private func base(_ environment: Environment) throws(Failure) -> Place {
        let (variable, exists) = (environment.variable, environment.exists)
        func isUsed(_ place: Place) -> Bool {
            exists(place.folders.socket) || exists(place.folders.cache)
                || environment.target(place.folders.socketLink).map(exists) == true
        }
        if owner == .system { return Self.system }
        let isNamed = [lists, cache, state, socket].contains { $0 != nil }
        var place: Place
        do throws(Failure) {
            place = try own(variable)
        } catch {
            // If the system's agent exists, the command is for it, and an error about the user's own folders does not
            // count.
            guard !toRun, owner == nil, !isNamed, isUsed(Self.system) || exists(Self.system.folders.lists) else {
                throw error
            }
            return Self.system
        }
        if toRun {
            setByService(&place, variable)
        } else if owner == nil, !isNamed, !isUsed(place) {
            if isUsed(Self.system) { return Self.system }
            if !exists(place.folders.lists), exists(Self.system.folders.lists) { return Self.system }
        }
        return place
    }

    /// The user's own folders (XDG Base Directory Specification).
    private func own(_ variable: (String) -> String?) throws(Failure) -> Place {
        func folder(_ name: String, _ fallback: String, isNamed: Bool = false) throws(Failure) -> FilePath {
            // The specification says to ignore relative paths.
            if let path = variable(name).map({ FilePath($0) }), path.isAbsolute { return path.appending("syncagent") }
            if let home = variable("HOME").map({ FilePath($0) }), home.isAbsolute {
                return home.appending(FilePath(fallback).components).appending("syncagent")
            }
            // If all folders are named by options or by systemd, no home is needed.
            guard !isNamed else { return "/nonexistent" }
            throw Failure(
                "Neither \(name) nor HOME is an absolute path: set one of them, or use --lists, --cache, "
                    + "--state and --socket.", .badConfiguration)
        }
        func isService(_ name: String) -> Bool { toRun && variable(name) != nil }
        let state = try folder("XDG_STATE_HOME", ".local/state", isNamed: state != nil || isService("STATE_DIRECTORY"))
        let configuration = try folder(
            "XDG_CONFIG_HOME", ".config", isNamed: lists != nil || isService("CONFIGURATION_DIRECTORY"))
        let runtime = variable("XDG_RUNTIME_DIR").map { FilePath($0).appending("syncagent") }
        return Place(
            folders: AgentFolders(
                lists: configuration.appending("lists.d"),
                cache: try folder("XDG_CACHE_HOME", ".cache", isNamed: cache != nil || isService("CACHE_DIRECTORY")),
                state: state, socket: (runtime ?? state).appending("control.sock")),
            file: configuration.appending("syncagent.toml"))
    }

    /// Applies the folders that systemd made for the service (systemd.exec(5)).
    private func setByService(_ place: inout Place, _ variable: (String) -> String?) {
        func folder(_ name: String) -> FilePath? {
            // Several folders are separated by colons.
            variable(name).flatMap { $0.split(separator: ":").first }.map { FilePath(String($0)) }
        }
        if let configuration = folder("CONFIGURATION_DIRECTORY") {
            place.folders.lists = configuration.appending("lists.d")
            place.file = configuration.appending("syncagent.toml")
        }
        if let cache = folder("CACHE_DIRECTORY") { place.folders.cache = cache }
        if let state = folder("STATE_DIRECTORY") { place.folders.move(state: state) }
        if let runtime = folder("RUNTIME_DIRECTORY") { place.folders.socket = runtime.appending("control.sock") }
    }
}

extension AgentFolders {
    /// Moves the state folder, and the socket if it is in it.
    ///
    /// Without a runtime folder, as in a cron job, the socket is in the state folder, which is private too.
    fileprivate mutating func move(state folder: FilePath) {
        if socket == state.appending("control.sock") { socket = folder.appending("control.sock") }
        state = folder
    }
}
