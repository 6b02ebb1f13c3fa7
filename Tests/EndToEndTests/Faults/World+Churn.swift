// SPDX-License-Identifier: Apache-2.0
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import TestSupport

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
    /// - Parameters:
    ///   - volume: Where its cache is.
    ///   - moment: How long after its start.
    ///   - isAcknowledged: Whether to wait before for a `sync --wait` that ended with 0.
    /// - Returns: What the agent said is published.
    /// - Throws: An error if the agent does not start, or the power cannot be cut.
    func cutPower(
        of volume: Volume, after moment: Duration, onceAcknowledged isAcknowledged: Bool
    ) async throws -> Acknowledgement {
        let acknowledged = Acknowledgement()
        let world = setting("SYNCAGENT_LISTS_SETTLE", "10ms")
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
                            try? await world.published(names, as: ListName(list))
                        }
                    }
                }
                group.addTask {
                    while !Task.isCancelled {
                        let version = acknowledged.beginVersion()
                        try world.drop(Acknowledgement.icons(version), as: Acknowledgement.list)
                        let sync = try? await world.agent.call("sync", "--wait", Acknowledgement.list)
                        if sync?.code == 0 { acknowledged.note(synced: version) }
                    }
                }
                if isAcknowledged { try await waitUntil { acknowledged.synced > 0 } }
                // The moment is what differs from one run to the next.
                try await Task.sleep(for: moment)
                try volume.cutPower()
                group.cancelAll()
                try await group.waitForAll()
            }
            // Without a disk it still answers.
            try await world.agent.status { _ in true }
        }
        try remove(Acknowledgement.list)
        return acknowledged
    }
}

/// What an agent said is published, so that it must be there after the power has failed.
final class Acknowledgement: Sendable {
    private struct State {
        var generation = 0
        var synced = 0
        var dropped = 0
    }

    private let state = Mutex(State())

    /// The newest generation; 0 if none.
    var generation: Int { state.withLock(\.generation) }

    /// The version of a list for which `sync --wait` ended with 0; 0 if none.
    var synced: Int { state.withLock(\.synced) }

    /// Whether a cache has that version of the list, all ready, or a later one.
    func isKept(in cache: IconCache) throws -> Bool {
        let (synced, dropped) = state.withLock { ($0.synced, $0.dropped) }
        guard synced > 0 else { return true }
        let apps = try cache.apps(in: ListName(Self.list)) ?? []
        let names = apps.map(\.name)
        return names == Self.icons(synced) && apps.allSatisfy(\.isReady)
            || synced < dropped && (synced + 1...dropped).contains { Self.icons($0) == names }
    }

    fileprivate static let list = "waited-for.plist"

    /// The icons of a version of the list: no other one has them.
    fileprivate static func icons(_ version: Int) -> [String] {
        (0..<4).map { "waited-for-\(version)-\($0)" }
    }

    fileprivate func note(_ generation: Int?) {
        state.withLock { $0.generation = max($0.generation, generation ?? 0) }
    }

    fileprivate func note(synced version: Int) {
        state.withLock { $0.synced = version }
    }

    fileprivate func beginVersion() -> Int {
        state.withLock { state in
            state.dropped += 1
            return state.dropped
        }
    }
}
