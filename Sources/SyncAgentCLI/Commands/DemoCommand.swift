// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DemoOrigin
import FoundationEssentials
import Glibc
import SyncAgent
import SystemPackage

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show the agent at work in a temporary folder.",
        discussion: """
            A web server on loopback draws icons, an agent watches a lists folder, and lists are added, changed and \
            damaged. Exit code 0 means that all checks passed. The folder is removed at the end.

            Examples:
              syncagent demo
              TMPDIR=/var/tmp syncagent demo

            Exit code 1: a check failed.
            """)

    func run() async throws {
        let folder = try Self.makeTemporaryFolder(for: "demo")
        let program = try Agent.Helpers.program()
        do {
            try await DemoOrigin.run { origin in
                try await Demo(origin: origin, agent: AgentProcess(program: program, folder: folder)).run()
            }
            try FileManager.default.removeItem(atPath: folder.string)
        } catch {
            try? FileManager.default.removeItem(atPath: folder.string)
            guard let failure = error as? CommandFailure else { throw error }
            throw Exit.because("The demo failed: \(failure)")
        }
        try Message.output(["", "All checks passed. The README describes the next steps."])
    }

    static func makeTemporaryFolder(for command: String) throws -> FilePath {
        let base = Variable["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/syncagent-\(command).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Exit.because(
                "Cannot create a temporary folder in \(base): \(Errno(rawValue: errno)). Set TMPDIR to a writable folder.",
                code: .folder)
        }
        return FilePath(String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
