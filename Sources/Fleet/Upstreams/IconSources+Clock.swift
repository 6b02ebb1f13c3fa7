// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

// Manifests have wall clock times; the clock may be wrong when the agent starts, and be set later.
extension IconSources {
    /// Handles a change of the wall clock, which is `offset` ahead of the agent's clock; returns the upstreams that
    /// became stale and, if there are any or others became fresh, the icons to decide again.
    package mutating func setClock(_ offset: Duration, at now: Timestamp) -> (stale: [String], icons: [IconURL]) {
        let before = upstreams.map { $0.isFresh(settings.maxAge, at: now) }
        moveClock(to: offset, at: now)
        let changes = zip(upstreams, before).filter { $0.isFresh(settings.maxAge, at: now) != $1 }
        return (changes.filter(\.1).map(\.0.url.folder.url), changes.isEmpty ? [] : drainUndecided())
    }
}
