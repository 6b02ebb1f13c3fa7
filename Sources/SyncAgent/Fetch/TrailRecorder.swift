// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Synchronization

/// Writes the way of a download down while it is under way: it is wanted however the download ends.
final class TrailRecorder: Sendable {
    private let hops = Mutex<[FetchTrail.Hop]>([])
    private let protocols = Mutex<Bool?>(nil)

    /// The way up to now; `nil` if there is nothing to tell of it.
    var trail: FetchTrail? { FetchTrail(hops.withLock(\.self)) }

    /// Whether every answer came over HTTP/2; `nil` as long as there is none that is no redirect.
    var isMultiplexed: Bool? { protocols.withLock(\.self) }

    /// Notes that an answer came that is no redirect.
    func end(isMultiplexed: Bool) {
        protocols.withLock { $0 = isMultiplexed }
    }

    /// Notes that a URL is the next one.
    func begin(_ target: FetchTarget, through proxy: Proxy?) {
        hops.withLock { $0.append(FetchTrail.Hop(target, through: proxy)) }
    }

    /// Notes what became of the last one.
    func update(_ change: (inout FetchTrail.Hop) -> Void) {
        hops.withLock { hops in
            guard let last = hops.indices.last else { return }
            change(&hops[last])
        }
    }
}
