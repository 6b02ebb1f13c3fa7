// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// The files that change at every scan; after a time they are rejected.
package struct UnsettledLists: Sendable {
    private let patience: Duration
    private var since: [ListName: Timestamp] = [:]

    package init(patience: Duration) {
        self.patience = patience
    }

    /// Records which files were being written during a scan; returns the verdicts on those that changed for too long.
    package mutating func note(_ names: Set<ListName>, at now: Timestamp) -> [ListName: ListReading] {
        since = since.filter { names.contains($0.key) }
        for name in names where since[name] == nil { since[name] = now }
        return since.filter { $0.value + patience <= now }.mapValues { _ in
            ListReading(source: nil, verdict: .failure(.stillBeingWritten))
        }
    }
}
