// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat
import Glibc
import HTTPRules
import Synchronization
import SystemPackage

/// Parses property lists in `syncagent-parse`, one short-lived process per file, because the parser can crash.
package struct ParseHelper: Sendable {
    /// The path of `syncagent-parse`, installed beside the agent's program.
    let executable: FilePath
    var limits = ListLimits()
    /// The time limit for one file, including the start of a process.
    var timeout: Duration = .seconds(60)
    var metrics: AgentMetrics?
    /// The process that was started ahead of a file.
    private let ahead = Ahead()

    /// The helper for lists taken over from upstreams; none of its processes are started ahead.
    var ofAdopted: ParseHelper {
        ParseHelper(executable: executable, limits: limits.ofAdopted, timeout: timeout, metrics: metrics)
    }

    /// Starts a process ahead of the next file: starting one takes longer than parsing a small list.
    ///
    /// The process knows no list, and waits for the next file; ``dismiss()`` ends it if no file comes. If it cannot be
    /// started, the next parse reports that.
    package func prepare() async {
        guard ahead.process.withLock({ $0 == nil }), Shortage.ofDescriptors() == nil else { return }
        let process = await onOwnThread("parser") { try? HelperProcess(executable, arguments) }
        ahead.process.withLock { $0 = process }
    }

    package func dismiss() async {
        guard let process = ahead.dequeue() else { return }
        await onOwnThread("parser") { _ = process.end() }
    }

    /// Parses the contents of a file.
    ///
    /// When this returns, the process has ended: by itself, or killed on timeout or cancellation. The verdicts
    /// ``ListRejection/cancelled``, ``ListRejection/outOfResources(_:)`` and ``ListRejection/parserUnavailable(_:)``
    /// are not about the file. The caller reads the file, since reading from a network file system can block forever.
    package func parse(_ bytes: [UInt8], within limit: Duration? = nil) async -> ListVerdict {
        // A process that was started ahead already holds its descriptors.
        let held = ahead.process.withLock { $0 == nil ? 0 : HelperProcess.descriptors }
        if let shortage = Shortage.ofDescriptors(besides: held) { return .failure(.outOfResources(shortage.reason)) }
        let timeout = min(limit ?? self.timeout, self.timeout)
        let killer = HelperKiller()
        let verdict = await withTaskCancellationHandler {
            await onOwnThread("parser") { run(bytes, within: timeout, killer) }
        } onCancel: {
            killer.kill()
        }
        guard !Task.isCancelled else { return .failure(.cancelled) }
        metrics?.recordVerdict(verdict)
        return verdict
    }

    private func run(_ bytes: [UInt8], within timeout: Duration, _ killer: HelperKiller) -> ListVerdict {
        let deadline = ContinuousClock.now + timeout
        let process: HelperProcess
        do throws(Errno) {
            let ready = ahead.dequeue().flatMap { $0.hasEnded ? nil : $0 }
            process = if let ready { ready } else { try HelperProcess(executable, arguments) }
        } catch {
            if let shortage = Shortage(starting: error) { return .failure(.outOfResources(shortage.reason)) }
            return .failure(.parserUnavailable("\(FileError("start", executable.string, error))"))
        }
        defer { process.end() }
        killer.attach(process)
        process.send(bytes)
        var output: [UInt8] = []
        while true {
            switch process.next(by: deadline) {
            case .output(let bytes):
                output += bytes
                guard output.count <= limits.maxText.bytes else { return .failure(.parserNonsense) }
            case .message, .outputEnded: continue
            case .ended:
                guard let error = process.unsent else { return verdict(process.end(), output) }
                return .failure(
                    Shortage(error).map { .outOfResources($0.reason) } ?? .unreadable("\(error)"))
            case .late: return .failure(.parserTimeout(limit: DurationText.format(timeout)))
            }
        }
    }

    private var arguments: [String] {
        [
            "--max-bytes", String(limits.maxBytes.bytes), "--max-entries", String(limits.maxEntries),
            "--icon-keys", limits.iconKeys.joined(separator: ","),
            "--identity-keys", limits.identityKeys.joined(separator: ","),
        ] + (limits.iconBase.map { ["--icon-base-url", $0.url] } ?? [])
    }

    private func verdict(_ exit: HelperProcess.Exit, _ output: [UInt8]) -> ListVerdict {
        switch exit {
        case .code(0):
            do throws(ParseRecord.Malformed) {
                return try ParseRecord.decode(output, maxEntries: limits.maxEntries)
            } catch {
                return .failure(.parserNonsense)
            }
        case .code(let code): return .failure(.parserFailed(status: Int(code)))
        case .signal(SIGXCPU): return .failure(.parserTimeout(limit: "its CPU time limit"))
        case .signal(let signal) where [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(signal):
            return .failure(.parserKilled(signal: Self.name(ofSignal: signal)))
        case .signal(let signal): return .failure(.parserDied(signal: Self.name(ofSignal: signal)))
        }
    }

    private static func name(ofSignal signal: Int32) -> String {
        let names = [
            SIGABRT: "ABRT", SIGBUS: "BUS", SIGFPE: "FPE", SIGHUP: "HUP", SIGILL: "ILL", SIGINT: "INT", SIGKILL: "KILL",
            SIGSEGV: "SEGV", SIGTERM: "TERM", SIGTRAP: "TRAP",
        ]
        return names[signal].map { "SIG\($0)" } ?? "signal \(signal)"
    }

    private final class Ahead: Sendable {
        let process = Mutex<HelperProcess?>(nil)

        /// Returns the process, to one caller only.
        func dequeue() -> HelperProcess? { process.withLock { $0.take() } }
    }
}
