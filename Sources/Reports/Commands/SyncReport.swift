// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The progress of some lists' icons: the output of `syncagent sync`.
package struct SyncReport: Codable, Equatable, Sendable {
    package struct Rejection: Codable, Equatable, Sendable {
        package var list: ListName
        package var message: String

        package init(list: ListName, message: String) {
            (self.list, self.message) = (list, message)
        }
    }

    /// Requested lists that are not in the folder.
    package var missing: [ListName] = []
    package var rejected: [Rejection] = []
    package var ready = 0
    package var pending = 0
    package var failed = 0
    /// Whether nothing more will happen for now: everything is published, has failed, or waits for something else.
    package var isDone = false
    package var error: String?
    /// The number of lists, or of requested lists.
    package var lists: Int?
    /// How many of them are published in their current state.
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
