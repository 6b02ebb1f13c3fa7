// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Files that change at every scan; they are rejected after `patience`.
package struct UnsettledLists: Sendable {
    private let patience: Duration
    private var since: [ListName: Timestamp] = [:]

    package init(patience: Duration) {
        self.patience = patience
    }

    /// Records the files being written during a scan; returns rejections of those that changed for too long.
    package mutating func record(_ names: Set<ListName>, at now: Timestamp) -> [ListName: ListReading] {
        since = since.filter { names.contains($0.key) }
        for name in names where since[name] == nil { since[name] = now }
        return since.filter { $0.value + patience <= now }.mapValues { _ in
            ListReading(source: nil, verdict: .failure(.stillBeingWritten))
        }
    }
}
