// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet

/// The state that survives a restart, apart from the cache folder.
package struct Remembered: Sendable {
    package var icons = IconMemos()
    package var origins: [OriginMemo] = []
    package var lists: [ListMemo] = []
    package var rejections: [RejectionMemo] = []
    package var renderFailures: [RenderMemo] = []
    /// When each generation was superseded, by the clock of this run.
    package var superseded: [Int: Timestamp] = [:]
    package var values = RememberedValues()

    package init() {}
}

/// The single values that survive a restart.
///
/// A value is stored once ``Reconciler`` sets it. New members must be optional, because databases of earlier versions
/// lack them.
package struct RememberedValues: Codable, Equatable, Sendable {
    package var isPaused: Bool
    /// The pauses; `nil` if there is only one, without a reason and an end.
    package var pauses: [Pause]?
    /// The private origins whose icons the cache may contain; `nil` for none.
    package var privateOrigins: [String]?
    /// The caches with no private icons from other origins; `nil` if there are none, or in the database of an earlier version.
    var knownCaches: KnownCaches?
    /// The last change whose eviction is held, with its time by the clock of this run; `nil` if there is none.
    package private(set) var hold: EvictionBrake.Hold?
    /// Earlier ones, the oldest first; `nil` for none.
    private var earlierHolds: [EvictionBrake.Hold]?
    /// The most images that were shown before lists declined (``EvictionBrake``); `nil` if they did not.
    var peak: Int?
    /// The identity of the lists folder; `nil` if not known.
    package var folder: FolderIdentity?
    /// Whether that folder had a list; `nil` if it had none, or in the database of an earlier version.
    package var hadList: Bool?
    /// The lists that were known before the state was lost, and that upstreams may give again; `nil` if there are none.
    package var awaitedLists: [ListName]?
    /// The highest generation number given; 0 if there was none.
    package var newestGeneration: Int
    /// The newest generation that a purge superseded (``RetirementLedger/purged``); `nil` if there is none.
    package var purged: Int?
    /// The last accepted manifests of sources.
    package var upstreams: [UpstreamMemo]
    /// The rules by which renditions were made; `nil` if there are none.
    var rendering: Renditions.Rules?
    /// The generation that a purge is still to replace; `nil` if there is none.
    package var purging: Int?
    /// The muted URLs and lists; `nil` if there are none.
    package var mutes: [Mute]?
    /// The machine that stored this (``RestoredState/machine``); `nil` if it is not known.
    package var machine: String?

    package init(
        isPaused: Bool = false, pauses: [Pause]? = nil, privateOrigins: [String]? = nil,
        holds: [EvictionBrake.Hold] = [], folder: FolderIdentity? = nil,
        newestGeneration: Int = 0, purged: Int? = nil, upstreams: [UpstreamMemo] = []
    ) {
        (self.isPaused, self.pauses, self.privateOrigins) = (isPaused, pauses, privateOrigins)
        self.folder = folder
        (self.newestGeneration, self.purged, self.upstreams) = (newestGeneration, purged, upstreams)
        self.holds = holds
    }

    /// The changes whose evictions are held, the oldest first (``EvictionBrake/holds``).
    package var holds: [EvictionBrake.Hold] {
        get { (earlierHolds ?? []) + (hold.map { [$0] } ?? []) }
        set { (hold, earlierHolds) = (newValue.last, newValue.count > 1 ? newValue.dropLast() : nil) }
    }
}
