// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// The files that change whenever they are looked at, on which there is a verdict too after a time.
package struct UnsettledLists: Sendable {
    private let patience: Duration
    private var since: [ListName: Timestamp] = [:]

    /// - Parameter patience: How long a file may go on changing.
    package init(patience: Duration) {
        self.patience = patience
    }

    /// Notes which files were being written at a look.
    ///
    /// - Returns: The verdict on each of those that have been for too long.
    package mutating func note(_ names: Set<ListName>, at now: Timestamp) -> [ListName: ListReading] {
        since = since.filter { names.contains($0.key) }
        for name in names where since[name] == nil { since[name] = now }
        return since.filter { $0.value + patience <= now }.mapValues { _ in
            ListReading(source: nil, verdict: .failure(.stillBeingWritten))
        }
    }
}
