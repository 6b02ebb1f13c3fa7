// SPDX-License-Identifier: Apache-2.0

@testable import IconCache

extension IconCache {
    /// The same cache, whose subscriptions check the manifest this often.
    func polling(every interval: Duration) -> IconCache {
        var cache = self
        cache.pollingInterval = interval
        return cache
    }
}
