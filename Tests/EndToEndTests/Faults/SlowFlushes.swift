// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Flushes of a running process that take long, as on a disk that hangs.
///
/// It takes strace.
struct SlowFlushes: Sendable {
    private let log: FilePath
    private let tracer: Tracer

    /// Slows the flushes of a process from now on, to its end.
    ///
    /// - Parameters:
    ///   - process: The process, with all its threads.
    ///   - time: How long each flush takes.
    ///   - folder: Where the calls are logged.
    /// - Throws: ``WaitTimeout`` if strace does not get hold of the process.
    init(of process: ProcessIdentifier, by time: Duration, in folder: FilePath) async throws {
        let log = folder.appending("flushes")
        self.log = log
        let calls = "syncfs,fsync,fdatasync"
        // It ends with the process.
        Task {
            _ = try? await Program.run(
                "strace", "-f", "-qqq", "-o", log.string, "-e", "trace=\(calls)", "-e",
                "inject=\(calls):delay_enter=\(Int(time / .microseconds(1)))", "-p", "\(process.value)")
        }
        try await waitUntil { try ProcessStatus(of: process.value)["TracerPid"] != "0" }
        tracer = try Tracer(of: process)
        // All of its threads.
        for thread in try ProcessTree.threads(of: process.value) {
            try await waitUntil { (try? ProcessStatus(of: thread)["TracerPid"]) != "0" }
        }
    }

    /// Has flushes take no longer than they do, also those that have begun.
    func end() {
        tracer.end()
    }

    /// Returns when a flush has begun.
    func waitForFirst() async throws {
        try await waitUntil { (try? FileBytes.read(log))?.isEmpty == false }
    }
}
