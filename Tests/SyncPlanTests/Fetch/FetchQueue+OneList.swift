// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

extension FetchQueue {
    /// Puts a URL in the queue as if there were one list.
    mutating func add(_ url: IconURL, origin: String, priority: Priority) {
        add(url, origin: origin, list: "1.plist", priority: priority)
    }
}
