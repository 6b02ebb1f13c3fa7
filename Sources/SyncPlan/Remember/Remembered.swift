// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Fleet

/// What is remembered over a restart beside the cache folder.
package struct Remembered: Sendable {
    package var icons = IconMemos()
    package var origins: [OriginMemo] = []
    package var lists: [ListMemo] = []
    package var rejections: [RejectionMemo] = []
    /// When each superseded generation was, by the clock of this run.
    package var superseded: [Int: Timestamp] = [:]
    package var values = RememberedValues()

    package init() {}
}

/// The single things that are remembered over a restart.
///
/// One that is added here is stored once ``Reconciler`` gives it a value. It must be optional, because databases of earlier
/// versions do not have it.
package struct RememberedValues: Codable, Equatable, Sendable {
    /// Whether downloads are paused.
    package var isPaused: Bool
    /// The change whose eviction is held, its time by the clock of this run; `nil` if none is.
    package var hold: EvictionBrake.Hold?
    /// The folder that the lists are in; `nil` if that is not known.
    package var folder: FolderIdentity?
    /// The highest number that a generation was given; 0 if none was.
    package var newestGeneration: Int
    /// The manifests of upstreams that were accepted last.
    package var upstreams: [UpstreamMemo]

    package init(
        isPaused: Bool = false, hold: EvictionBrake.Hold? = nil, folder: FolderIdentity? = nil,
        newestGeneration: Int = 0, upstreams: [UpstreamMemo] = []
    ) {
        self.isPaused = isPaused
        self.hold = hold
        self.folder = folder
        self.newestGeneration = newestGeneration
        self.upstreams = upstreams
    }
}
