// SPDX-License-Identifier: Apache-2.0
import CacheFormat

@testable import SyncPlan

/// The state database, as what was stored in it.
struct SimulatedMemory {
    private(set) var icons: [IconURL: IconMemo] = [:]
    private(set) var origins: [String: OriginHealth] = [:]
    private(set) var lists: [ListName: ListMemo] = [:]
    private(set) var rejections: [ListName: RejectionMemo] = [:]
    private(set) var renderFailures: [Digest: RenderMemo] = [:]
    private(set) var superseded: [Int: Timestamp] = [:]
    private(set) var values = RememberedValues()

    mutating func store(_ changes: MemoChanges) {
        for memo in changes.remembered { icons[memo.url] = memo }
        for url in changes.forgotten { icons[url] = nil }
        for (origin, memo) in changes.origins { origins[origin] = memo?.health }
        for (list, memo) in changes.lists { lists[list] = memo }
        for (list, memo) in changes.rejections { rejections[list] = memo }
        for (image, memo) in changes.renderFailures { renderFailures[image] = memo }
        for (generation, time) in changes.superseded { superseded[generation] = time }
        values = changes.values ?? values
    }

    /// Ages that are stored do not grow while the system sleeps.
    mutating func recordSleep(_ time: Duration) {
        superseded = superseded.mapValues { $0 + time }
        values.holds = values.holds.map { hold in
            var hold = hold
            hold.since = hold.since + time
            return hold
        }
    }

    /// Adds what an agent finds in the database when it starts.
    func restore(to state: inout RestoredState) {
        state.memory.icons = IconMemos(icons.values.sorted { $0.url < $1.url })
        state.memory.origins = origins.sorted { $0.key < $1.key }.map { OriginMemo(origin: $0.key, health: $0.value) }
        state.memory.lists = lists.values.sorted { $0.list < $1.list }
        state.memory.rejections = rejections.values.sorted { $0.list < $1.list }
        state.memory.renderFailures = Array(renderFailures.values)
        state.memory.superseded = superseded
        state.memory.values = values
    }
}
