// SPDX-License-Identifier: Apache-2.0
import Glibc
import Subprocess
package import SyncPlan
package import SystemPackage

/// Parses property lists in `syncagent-parse`, one short-lived process a file, because a file can be made to kill its parser.
package struct ParseHelper: Sendable {
    private let executable: FilePath
    private let limits: ListLimits
    private let timeout: Duration

    /// - Parameters:
    ///   - executable: `syncagent-parse`, which lies beside the agent's own program.
    ///   - limits: What is accepted of a file.
    ///   - timeout: How long one file may take, from the start of the process to its end. The default is 15 s.
    package init(executable: FilePath, limits: ListLimits = ListLimits(), timeout: Duration = .seconds(15)) {
        self.executable = executable
        self.limits = limits
        self.timeout = timeout
    }

    /// What the child has of an environment; that of the agent is none of its business.
    ///
    /// Backtraces would take seconds.
    private static var environment: [Environment.Key: String] {
        var environment: [Environment.Key: String] = ["SWIFT_BACKTRACE": "enable=no", "LIBDISPATCH_LOG": "NO"]
        #if SANITIZED
            // To look for leaks, a process would be started.
            environment["ASAN_OPTIONS"] = "detect_leaks=0"
        #endif
        return environment
    }

    /// Parses an open file from its first byte, wherever its offset stands.
    ///
    /// The file is left open.
    /// The process has ended when this returns: by itself, or killed because its time was over or the task was cancelled.
    /// A verdict of ``ListRejection/cancelled``, ``ListRejection/outOfResources(_:)`` or
    /// ``ListRejection/parserUnavailable(_:)`` says nothing of the file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - limit: How long this one may take, if that is less than any file may.
    /// - Returns: The app list in the file, or why there is none.
    package func parse(_ file: FileDescriptor, within limit: Duration? = nil) async -> ListVerdict {
        let timeout = min(limit ?? self.timeout, self.timeout)
        return await withTaskGroup { group in
            group.addTask { await run(file) }
            group.addTask {
                do {
                    try await Task.sleep(for: timeout)
                    return .failure(.parserTimeout(limit: DurationText.format(timeout)))
                } catch {
                    return .failure(.cancelled)
                }
            }
            // The first to end has the say; cancelling the other one kills the process, and the group awaits its end.
            let verdict = await group.next() ?? .failure(.cancelled)
            group.cancelAll()
            return Task.isCancelled ? .failure(.cancelled) : verdict
        }
    }

    private func run(_ file: FileDescriptor) async -> ListVerdict {
        if let shortage = Shortage.ofDescriptors { return .failure(.outOfResources(shortage.reason)) }
        do {
            let result = try await Subprocess.run(
                .path(executable),
                arguments: Arguments(arguments),
                environment: .custom(Self.environment),
                input: .fileDescriptor(file, closeAfterSpawningProcess: false),
                output: .bytes(limit: limits.maxText.bytes),
                error: .discarded)
            return verdict(result.terminationStatus, result.standardOutput)
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            return .failure(.parserNonsense)
        } catch {
            if let shortage = (error as? SubprocessError)?.underlyingError.flatMap({ Shortage(starting: $0) }) {
                return .failure(.outOfResources(shortage.reason))
            }
            return .failure(Task.isCancelled ? .cancelled : .parserUnavailable("\(error)"))
        }
    }

    private var arguments: [String] {
        [
            "--max-bytes", String(limits.maxBytes.bytes), "--max-entries", String(limits.maxEntries),
            "--icon-keys", limits.iconKeys.joined(separator: ","),
        ] + (limits.iconBase.map { ["--icon-base-url", $0.url] } ?? [])
    }

    private func verdict(_ status: TerminationStatus, _ output: [UInt8]) -> ListVerdict {
        switch status {
        case .exited(0):
            do throws(ParseRecord.Malformed) {
                return try ParseRecord.decode(output, maxEntries: limits.maxEntries)
            } catch {
                return .failure(.parserNonsense)
            }
        case .exited(let code): return .failure(.parserFailed(status: Int(code)))
        case .signaled(SIGXCPU): return .failure(.parserTimeout(limit: "its processor time"))
        case .signaled(let signal) where [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(signal):
            return .failure(.parserKilled(signal: Self.name(ofSignal: signal)))
        case .signaled(let signal): return .failure(.parserDied(signal: Self.name(ofSignal: signal)))
        }
    }

    private static func name(ofSignal signal: Int32) -> String {
        switch signal {
        case SIGABRT: "SIGABRT"
        case SIGBUS: "SIGBUS"
        case SIGFPE: "SIGFPE"
        case SIGHUP: "SIGHUP"
        case SIGILL: "SIGILL"
        case SIGINT: "SIGINT"
        case SIGKILL: "SIGKILL"
        case SIGSEGV: "SIGSEGV"
        case SIGTERM: "SIGTERM"
        case SIGTRAP: "SIGTRAP"
        default: "signal \(signal)"
        }
    }
}
