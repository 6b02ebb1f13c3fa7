// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import FoundationEssentials
import Glibc
import SyncAgent
import SystemPackage

/// The options of every command.
struct Configuration: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file. Default: syncagent.toml in /etc/syncagent or ~/.config/syncagent.",
            valueName: "file"),
        completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Use this value of a setting, such as fetch.maxBytes=1MiB; repeatable.", valueName: "key=value"),
        completion: .offered(\.settings))
    var assignments: [String] = []

    @Flag(exclusivity: .exclusive)
    var owner: Owner?

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

    enum Owner: String, EnumerableFlag {
        case system, user

        static func help(for owner: Owner) -> ArgumentHelp? {
            switch owner {
            case .system: "Use the folders of the system's agent."
            case .user: "Use your own folders. Default: the system's, if only the system has an agent."
            }
        }
    }

    func place(toRun: Bool = false) throws -> Place {
        let choice = PlaceChoice(
            config: config, lists: lists, cache: cache, state: state, socket: socket, owner: owner, toRun: toRun)
        do throws(PlaceChoice.Failure) {
            return try choice.place(in: Self.environment)
        } catch {
            throw Exit.because("\(error)", code: error.code)
        }
    }

    /// The folders of the agent that a command is for.
    ///
    /// - Throws: Exit code 78 if `--set` is wrong, even where it would change nothing.
    func folders() throws -> AgentFolders {
        try checkAssignments()
        return try place().folders
    }

    static var environment: PlaceChoice.Environment {
        PlaceChoice.Environment(
            variable: { Variable[$0] }, directory: currentDirectory, exists: exists,
            target: { path in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: path.string)).map { FilePath($0) }
            }, isAnswered: { ControlClient(socket: $0).obstacle == nil },
            isInside: { $0.isInside($1) })
    }

    private static func exists(_ path: FilePath) -> Bool {
        var status = stat()
        // EACCES: the file exists, but this user may not inspect it.
        return stat(path.string, &status) == 0 || errno == EACCES
    }

    static func currentDirectory() -> FilePath? { FilePath(allocated: getcwd(nil, 0)) }
}

/// Variables of the environment; an empty one counts as unset.
enum Variable {
    static subscript(name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }

    static var names: [String] { ProcessInfo.processInfo.environment.keys.sorted() }
}

extension FilePath {
    /// Takes a path that the C library allocated; `nil` if it did not.
    init?(allocated path: UnsafeMutablePointer<CChar>?) {
        guard let path else { return nil }
        defer { free(path) }
        self.init(platformString: path)
    }

    var isMissing: Bool { access(string, F_OK) != 0 && errno == ENOENT }

    /// Whether the path is a folder or inside it, whatever links and mounts lead there; it need not exist.
    func isInside(_ folder: FilePath) -> Bool {
        let (path, outer) = (resolved, folder.resolved)
        if path.starts(with: outer) { return true }
        guard let there = try? outer.stat() else { return false }
        var here = path
        while true {
            if let status = try? here.stat(), status.deviceID == there.deviceID, status.inode == there.inode {
                return true
            }
            guard here.removeLastComponent() else { return false }
        }
    }

    /// The path without links, as far as it exists.
    private var resolved: FilePath {
        if let path = FilePath(allocated: realpath(string, nil)) { return path }
        guard let last = lastComponent, case let parent = removingLastComponent(), parent != self else { return self }
        return parent.resolved.appending(last)
    }

    /// Whether nothing has this name: a symbolic link that leads nowhere has it.
    var isUnused: Bool { isMissing && !isSymbolicLink }
}
