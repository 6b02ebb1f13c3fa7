// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

// Manifests have the time of a wall clock, which may be wrong when the agent starts and be set later.
extension IconSources {
    /// The wall clock was set: it is so far ahead of the agent's now.
    ///
    /// - Returns: The folders of the upstreams that are stale by the new time and were not before; and the icons to be looked at again,
    ///   because others are fresh.
    package mutating func setClock(_ offset: Duration, at now: Timestamp) -> (stale: [String], icons: [IconURL]) {
        let before = upstreams.map { $0.isFresh(settings.maxAge, at: now) }
        moveClock(to: offset, at: now)
        let changes = zip(upstreams, before).filter { $0.isFresh(settings.maxAge, at: now) != $1 }
        return (changes.filter(\.1).map(\.0.url.folder.url), changes.contains { !$0.1 } ? takeUndecided() : [])
    }
}
