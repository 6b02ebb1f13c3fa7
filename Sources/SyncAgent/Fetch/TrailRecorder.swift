// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Synchronization

/// Writes the way of a download down while it is under way: it is wanted however the download ends.
final class TrailRecorder: Sendable {
    private let hops = Mutex<[FetchTrail.Hop]>([])

    /// The way up to now; `nil` if there is nothing to tell of it.
    var trail: FetchTrail? { FetchTrail(hops.withLock(\.self)) }

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
