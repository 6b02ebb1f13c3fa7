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
        for memo in changes.origins { origins[memo.origin] = memo.health }
        for origin in changes.forgottenOrigins { origins[origin] = nil }
        for memo in changes.lists { lists[memo.list] = memo }
        for list in changes.forgottenLists { lists[list] = nil }
        for memo in changes.rejections { rejections[memo.list] = memo }
        for list in changes.forgottenRejections { rejections[list] = nil }
        for memo in changes.renderFailures { renderFailures[memo.image] = memo }
        for image in changes.forgottenRenderFailures { renderFailures[image] = nil }
        superseded.merge(changes.superseded) { $1 }
        for generation in changes.released { superseded[generation] = nil }
        values = changes.values ?? values
    }

    /// Ages that are stored do not grow while the system sleeps.
    mutating func recordSleep(_ time: Duration) {
        superseded = superseded.mapValues { $0 + time }
        if let hold = values.hold { values.hold?.since = hold.since + time }
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
