// SPDX-License-Identifier: Apache-2.0
import AgentServer
import CacheFormat
import Glibc
import Reports
import Subprocess
import SyncAgent
import SystemPackage

/// The program under test as an agent in its own process, with its own folders.
struct AgentProcess: Sendable {
    private static let patience: Duration = .seconds(120)

    private let program: FilePath
    let folder: FilePath
    var lists: FilePath
    /// Environment variables of every command.
    ///
    /// By default the agent needs no free space in a temporary folder, and ignores the caller's configuration.
    var environment: [Environment.Key: String?]
    /// The options of `run`; the default allows origins on loopback.
    var runOptions = ["--allow-network", "127.0.0.0/8", "--log-level", "error"]

    init(program: FilePath, folder: FilePath) {
        self.program = program
        self.folder = folder
        lists = folder.appending("lists.d")
        environment = ["SYNCAGENT_CACHE_MIN_FREE": "0%", "XDG_CONFIG_HOME": folder.string]
    }

    var cache: FilePath { folder.appending("cache") }
    private var socket: FilePath { folder.appending("control.sock") }

    /// The arguments of a command, with the folders.
    ///
    /// Root may run the agent here, because nobody else controls the folders.
    private func arguments(_ command: [String]) -> Arguments {
        let options = command[0] == "run" ? ["--allow-root"] + runOptions : []
        let folders = [
            "--lists", lists.string, "--cache", cache.string, "--state", folder.appending("state").string, "--socket",
            socket.string,
        ]
        return Arguments([command[0]] + options + folders + command.dropFirst())
    }

    /// Runs a command with the folders; returns its exit code and output.
    func call(_ command: String...) async throws -> (code: Int32, output: String, messages: String) {
        try await call(command)
    }

    func call(_ command: [String]) async throws -> (code: Int32, output: String, messages: String) {
        let result = try await Subprocess.run(
            .path(program), arguments: arguments(command),
            environment: .inherit.updating(environment), output: .string(limit: 64 << 20),
            error: .string(limit: 1 << 20))
        guard case .exited(let code) = result.terminationStatus else {
            throw CommandFailure(description: "\(command[0]) ended with \(result.terminationStatus)")
        }
        return (code, result.standardOutput, result.standardError)
    }

    /// Runs the agent while the body runs, then sends SIGTERM; its exit code must be 0.
    ///
    /// - Throws: An error of the body, or ``CommandFailure`` if the agent does not answer or exits with another code.
    @discardableResult
    func whileRunning<R: Sendable>(
        endedBy signal: Signal = .terminate, _ body: @Sendable (ProcessIdentifier) async throws -> R
    ) async throws -> R {
        let result = try await Subprocess.run(
            .path(program), arguments: arguments(["run"]),
            environment: .inherit.updating(environment), input: .none, output: .discarded,
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
            let value: R
            do {
                try await waitUntilAnswered()
                value = try await body(execution.processIdentifier)
            } catch {
                try? execution.send(signal: .kill)
                throw error
            }
            try execution.send(signal: signal)
            return value
        }
        guard signal != .terminate || result.terminationStatus == .exited(0) else {
            throw CommandFailure(description: "the agent ended with \(result.terminationStatus)")
        }
        return result.closureResult
    }

    private func waitUntilAnswered() async throws {
        let end = ContinuousClock.now + Self.patience
        while try await ControlClient(socket: socket).status() == nil {
            guard ContinuousClock.now < end else { throw CommandFailure(description: "the agent does not respond") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Passes the status to `isLast` whenever it changes; returns the last one, or `nil` if the agent does not answer.
    @discardableResult
    func follow(until isLast: (StatusReport) async throws -> Bool) async throws -> StatusReport? {
        try await ControlClient(socket: socket).status(until: isLast)
    }

    @discardableResult
    func status(
        within patience: Duration = patience, where isWanted: @escaping @Sendable (StatusReport) -> Bool
    ) async throws -> StatusReport {
        try await withThrowingTaskGroup(of: StatusReport?.self) { group in
            group.addTask {
                if let report = try await follow(until: isWanted), isWanted(report) { return report }
                throw CommandFailure(description: "the agent stopped before it reached the expected state")
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            if let report = try await group.next() ?? nil { return report }
            let last = try await ControlClient(socket: socket).status()?.json.line ?? "the agent does not respond"
            throw CommandFailure(description: "the agent did not reach the expected state: \(last)")
        }
    }

    /// Writes a list under a temporary name, then renames it.
    func drop(_ text: String, as name: String) throws {
        let temporary = lists.appending(".\(name).new")
        let file = try FileDescriptor.open(
            temporary, .writeOnly, options: [.create, .truncate, .closeOnExec],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
        try file.closeAfter { _ = try file.writeAll(text.utf8) }
        try FileError.check("rename", temporary.string, rename(temporary.string, lists.appending(name).string))
    }
}

func propertyList(_ apps: [(name: String, icon: String)]) -> String {
    func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
    let entries = apps.map {
        "<dict><key>name</key><string>\(escaped($0.name))</string><key>icon</key><string>\(escaped($0.icon))</string></dict>"
    }
    return "<plist version=\"1.0\"><array>\n\(entries.joined(separator: "\n"))\n</array></plist>\n"
}
