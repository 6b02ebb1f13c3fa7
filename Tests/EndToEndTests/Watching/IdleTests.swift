// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What the agent costs while nothing happens.
///
/// `IDLE_SECONDS` in the environment is for how long it is watched.
@Suite("An agent with nothing to do", .timeLimit(.minutes(15)))
struct IdleTests {
    private static let seconds = environmentNumber("IDLE_SECONDS") ?? 10

    @Test("an idle agent hardly wakes up, and takes next to no CPU time", .disabled(if: isSanitized, sanitizerNote))
    func idle() async throws {
        try await World.with { world in
            // Whoever mounts a file system wakes the watcher, which looks where the folder is: other tests do.
            let isAlone = geteuid() == 0 && Tool.areInstalled("unshare")
            let world = isAlone ? try world.after(in: "unshare --mount --propagation private") : world
            for number in 0..<60 { try world.drop(["icon-\(number % 20)"], as: "\(number).plist") }
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.inSync && $0.lists.count == 60 && $0.icons.ready == 20 }
                let watcher = try #require(try ProcessTree.child(of: agent.value, named: "syncagent-watch"))
                // What has just been done has an end, and idle threads give up waiting after some seconds.
                try await Task.sleep(for: .seconds(6))
                let before = try [agent.value, watcher].map(Usage.init)
                // That nothing happens for so long is what is measured.
                try await Task.sleep(for: .seconds(Self.seconds))
                let after = try [agent.value, watcher].map(Usage.init)
                let wakeUps = zip(after, before).map { $0.wakeUps(since: $1) }
                let time = zip(after, before).map { $0.milliseconds - $1.milliseconds }
                print(
                    "\(Self.seconds) s with 60 lists: agent \(wakeUps[0]) wake-ups, \(time[0]) ms; "
                        + "syncagent-watch \(wakeUps[1]) wake-ups, \(time[1]) ms")
                #expect(wakeUps[0] <= Self.mostWakeUps && wakeUps[1] <= 3 + Self.seconds / 2)
                // Compared with the start, on the same machine; the kernel counts in ticks of 10 ms.
                let start = before.map(\.milliseconds).reduce(0, +)
                #expect(10 * (time[0] + time[1]) <= start + 100, "the start took \(start) ms")
            }
        }
    }

    /// The most that an agent may wake up: a minute has 60, and each rescan, every 30 s, takes several threads.
    private static let mostWakeUps = max(30, seconds)

    /// What a process with all its threads, and its children that have ended, has taken so far.
    private struct Usage {
        /// How often each thread waited for something.
        private var waits: [pid_t: Int] = [:]
        private(set) var milliseconds = 0

        init(of process: pid_t) throws {
            for thread in try ProcessTree.threads(of: process) {
                let status = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/status", encoding: .utf8)
                let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                waits[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
            }
            let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            // After the name, which may have anything in it: utime, stime, cutime and cstime (proc_pid_stat(5)).
            let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
            let ticks = fields.dropFirst(12).prefix(4).compactMap { Int($0) }.reduce(0, +)
            milliseconds = ticks * 1000 / sysconf(Int32(_SC_CLK_TCK))
        }

        /// How often the threads that there are now have waited since then.
        func wakeUps(since before: Usage) -> Int {
            waits.map { $1 - (before.waits[$0] ?? 0) }.reduce(0, +)
        }
    }
}
