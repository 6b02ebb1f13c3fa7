// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Subprocess
import SystemPackage
import TestSupport

/// Connections that `Tests/Tools/flood` opens at once.
enum Flood {
    static let tool = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Tools/flood")

    /// Opens connections from several processes, and waits for their ends.
    ///
    /// - Returns: How often each outcome was seen.
    static func count(
        _ kind: String, at address: String, _ path: String, count: Int, processes: Int
    ) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<processes {
                group.addTask {
                    try await Program.run("python3", tool.string, kind, address, path, "\(count / processes)").output
                }
            }
            var all: [String: Int] = [:]
            for try await output in group {
                let some = try JSONDecoder().decode([String: Int].self, from: Data(output.utf8))
                all.merge(some, uniquingKeysWith: +)
            }
            return all
        }
    }

    /// Keeps connections open that have asked for a path and read nothing, while the body runs.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - path: What they ask for.
    ///   - address: Where the agent listens.
    ///   - world: Its folder gets a file.
    ///   - command: Runs the tool.
    ///   - body: Gets a file that is empty until each connection has the beginning of its answer.
    /// - Throws: What the body throws, or an error if the tool cannot be started.
    static func holding(
        _ count: Int, _ path: String, at address: String, _ world: World, command: [String] = ["python3", tool.string],
        _ body: @Sendable (FilePath) async throws -> Void
    ) async throws {
        let file = world.folder.appending("flood")
        try write("", to: file)
        let output = try FileDescriptor.open(file, .writeOnly, options: [.append, .truncate])
        let arguments = Array(command.dropFirst()) + ["ignore", address, path, "\(count)", "600"]
        _ = try await Subprocess.run(
            .name(command[0]), arguments: Arguments(arguments), input: .none,
            output: .fileDescriptor(output, closeAfterSpawningProcess: true), error: .discarded
        ) { execution in
            do {
                try await body(file)
            } catch {
                try? execution.send(signal: .kill)
                throw error
            }
            try execution.send(signal: .kill)
        }
    }
}
