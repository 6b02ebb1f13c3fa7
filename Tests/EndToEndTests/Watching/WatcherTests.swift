// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What can happen to `syncagent-watch`.
///
/// `WATCHER_KILLS` in the environment is how often it is killed.
@Suite("A watcher in adversity", .timeLimit(.minutes(15)), .serialized)
struct WatcherTests {
    private static let kills = environmentNumber("WATCHER_KILLS") ?? 3

    @Test("a watcher that is killed is started again, and no change is lost")
    func killed() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try await world.agent.whileRunning { agent in
                for round in 0..<Self.kills {
                    try await world.agent.status { $0.watch.isEstablished }
                    let watcher = try #require(try ProcessTree.child(of: agent.value, named: "syncagent-watch"))
                    // Before, at the same time, and afterwards.
                    if round % 3 == 0 { try world.drop(["icon-\(round)"]) }
                    try #require(kill(watcher, SIGKILL) == 0)
                    if round % 3 == 1 { try world.drop(["icon-\(round)"]) }
                    if round % 3 == 2 {
                        try await world.agent.status { !$0.watch.isEstablished }
                        try world.drop(["icon-\(round)"])
                    }
                    try await world.published(["icon-\(round)"])
                }
                #expect(kill(agent.value, 0) == 0)
            }
        }
    }

    @Test("an agent that has 1,100 descriptors open when it starts watches all the same")
    func descriptors() async throws {
        try await World.with { plain in
            let open = "ulimit -n 4096; for number in {1..1100}; do exec {file}</dev/null; done"
            let world = try plain.setting("SYNCAGENT_LISTS_RESCAN", "1h").after(open, shell: "/bin/bash")
            try await world.agent.whileRunning { process in
                try #require(access("/proc/\(process.value)/fd/1100", F_OK) == 0)
                try await world.agent.status { $0.watch.isEstablished }
                for names in [["Mail"], ["Mail", "Maps"]] {
                    try world.drop(names)
                    try await world.published(names)
                }
            }
        }
    }

    @Test("a watcher counts an overflow of the kernel's queue, and the agent finds every change")
    func overflow() async throws {
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        // Each file is two events: that it is made, and that it is closed.
        let count = try #require(Int(limit.dropLast())) / 2 + 1
        try await World.with { plain in
            // No rescan finds the lists.
            let world = plain.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let lists = (0..<5).map { "list-\($0).plist" }
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                let watcher = try #require(try ProcessTree.child(of: agent.value, named: "syncagent-watch"))
                for process in [agent.value, watcher] { try #require(kill(process, SIGSTOP) == 0) }
                for number in 0..<count {
                    try write("", to: world.agent.lists.appending("\(number).txt"))
                }
                for list in lists { try world.drop(["Mail", list], as: list) }
                for process in [watcher, agent.value] { try #require(kill(process, SIGCONT) == 0) }
                try await world.agent.status { $0.inSync && $0.lists.count == 6 && $0.icons.ready == 6 }
                #expect(try await world.agent.status { _ in true }.watch.overflows >= 1)
                #expect(try ProcessTree.child(of: agent.value, named: "syncagent-watch") == watcher)
            }
        }
    }
}
