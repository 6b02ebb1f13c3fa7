// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The progress of all icons of some lists: the output of `syncagent sync`.
package struct SyncReport: Codable, Equatable, Sendable {
    package struct Rejection: Codable, Equatable, Sendable {
        package var list: ListName
        package var message: String

        package init(list: ListName, message: String) {
            (self.list, self.message) = (list, message)
        }
    }

    /// The requested lists that are not in the lists folder.
    package var missing: [ListName] = []
    package var rejected: [Rejection] = []
    package var ready = 0
    package var pending = 0
    package var failed = 0
    /// Whether the sync is over for now: each list and icon is published, has failed, or waits for an obstacle to end.
    package var isDone = false
    package var error: String?
    /// The number of requested lists, or of all lists.
    package var lists: Int?
    /// The number of these lists whose current state is published.
    package var publishedLists: Int?
    /// Image bytes that the agent has downloaded since it started.
    package var downloadedBytes: Int?
    /// Why pending icons do not progress, as a clause.
    package var hold: String?

    package init(missing: [ListName] = []) {
        self.missing = missing
    }

    package var isWhole: Bool {
        isDone && missing.isEmpty && rejected.isEmpty && pending == 0 && failed == 0 && error == nil
    }

    package var json: JSON { .document(self) }
}
