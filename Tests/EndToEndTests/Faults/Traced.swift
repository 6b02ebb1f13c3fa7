// SPDX-License-Identifier: Apache-2.0
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

extension World {
    /// The agent as it is, but under strace, which writes what it sees to the log.
    ///
    /// It ends as a shell does, with 128 and the number of the signal that killed it; unless signals are to go to the agent
    /// itself, and then the log can still be incomplete when it ends.
    func traced(by options: [String], log: FilePath, getsSignals: Bool = false) throws -> AgentProcess {
        let strace = ["strace"] + (getsSignals ? ["-D"] : []) + ["-f", "-y", "-qqq", "-o", log.string] + options
        let words = (strace + [BuiltProducts.path("syncagent").string]).map { "'\($0)'" }.joined(separator: " ")
        let command = getsSignals ? "exec \(words) \"$@\"" : "\(words) \"$@\"\nexit $?"
        let script = folder.appending("traced")
        let file = try FileDescriptor.open(
            script, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWriteExecute)
        try file.closeAfter { _ = try file.writeAll("#!/bin/sh\n\(command)\n".utf8) }
        var traced = AgentProcess(program: script, folder: folder)
        traced.environment = agent.environment
        return traced
    }
}

/// The strace that is attached to a process.
struct Tracer: Sendable {
    private let process: pid_t

    /// - Throws: What is wrong, if there is none.
    init(of traced: ProcessIdentifier) throws {
        let tracer = try ProcessStatus(of: traced.value)["TracerPid"].flatMap { pid_t($0) }
        process = try #require(tracer == 0 ? nil : tracer)
    }

    /// Kills it: the process continues, and its calls no longer fail or wait.
    func end() {
        kill(process, SIGKILL)
    }
}
