// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SyncPlan
import Synchronization

@testable import SyncAgentCLI

extension World {
    private static let lists = ["a.plist", "b.plist", "c.plist"]

    /// Drops lists that each name some of forty icons.
    ///
    /// - Returns: The names of all icons in them.
    func dropAny() throws -> [String] {
        try Self.lists.flatMap { try dropAny(as: $0) }
    }

    private func dropAny(as list: String) throws -> [String] {
        let names = (0..<40).shuffled().prefix(8).map { "icon-\($0)" }
        try drop(names, as: list)
        return names
    }

    /// Runs the agent while lists change as fast as they are published, and cuts the power.
    ///
    /// - Returns: The newest generation that the agent said is published; 0 if none.
    func cutPower(of volume: Volume, after moment: Duration) async throws -> Int {
        let acknowledged = Acknowledged()
        let world = setting("SYNCAGENT_CACHE_GRACE", "10ms").setting("SYNCAGENT_LISTS_SETTLE", "10ms")
        _ = try dropAny()
        try await world.agent.whileRunning(endedBy: .kill) { _ in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    _ = try? await world.agent.status { report in
                        if report.publication.error == nil { acknowledged.note(report.generation) }
                        return false
                    }
                }
                for list in Self.lists {
                    group.addTask {
                        while !Task.isCancelled {
                            let names = try world.dropAny(as: list)
                            try? await world.published(names, as: list)
                        }
                    }
                }
                try await Task.sleep(for: moment)
                try volume.cutPower()
                group.cancelAll()
                try await group.waitForAll()
            }
            // Without a disk it still answers.
            try await world.agent.status { _ in true }
        }
        return acknowledged.generation.withLock(\.self)
    }
}

private final class Acknowledged: Sendable {
    let generation = Mutex(0)

    func note(_ number: Int?) {
        generation.withLock { $0 = max($0, number ?? 0) }
    }
}
