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

/// The strace that holds a process.
enum Tracer {
    /// Kills it: the process goes on, and its calls fail or wait no longer.
    static func end(of process: ProcessIdentifier) throws {
        let tracer = try ProcessStatus(of: process.value)["TracerPid"].flatMap { pid_t($0) }
        kill(try #require(tracer.flatMap { $0 == 0 ? nil : $0 }), SIGKILL)
    }
}
