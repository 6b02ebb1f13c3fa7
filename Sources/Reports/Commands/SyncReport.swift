// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// How far the icons of some lists are, as `syncagent sync` tells it.
package struct SyncReport: Codable, Equatable, Sendable {
    /// A list that is not accepted as it is now.
    package struct Rejection: Codable, Equatable, Sendable {
        package var list: ListName
        /// What is wrong with it.
        package var message: String

        package init(list: ListName, message: String) {
            (self.list, self.message) = (list, message)
        }
    }

    /// Lists that were asked for, and are not in the folder.
    package var missing: [ListName] = []
    /// Every list that is not accepted, sorted by name.
    package var rejected: [Rejection] = []
    package var ready = 0
    package var pending = 0
    package var failed = 0
    /// Whether nothing more comes for now: everything is published, or has failed, or waits for something else.
    package var isDone = false
    /// Why it is not published.
    package var error: String?
    /// How many lists there are, or were named.
    package var lists: Int?
    /// How many of them are published as they are now.
    package var publishedLists: Int?
    /// How many bytes of images the agent has downloaded since it started.
    package var downloadedBytes: Int?
    /// Why icons that are pending get no further, as a clause.
    package var hold: String?

    package init(missing: [ListName] = []) {
        self.missing = missing
    }

    /// Whether all is ready and durable.
    package var isWhole: Bool {
        isDone && missing.isEmpty && rejected.isEmpty && pending == 0 && failed == 0 && error == nil
    }

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        [
            "format": 1, "missing": .array(missing.map(JSON.text)), "rejected": .array(rejected.map(\.json)),
            "ready": .number(ready), "pending": .number(pending), "failed": .number(failed), "isDone": .bool(isDone),
            "error": .string(orNull: error), "lists": lists.map(JSON.number) ?? .null,
            "publishedLists": publishedLists.map(JSON.number) ?? .null,
            "downloadedBytes": downloadedBytes.map(JSON.number) ?? .null, "hold": .string(orNull: hold),
        ]
    }
}

extension SyncReport.Rejection {
    fileprivate var json: JSON { ["list": .text(list), "message": .string(message)] }
}
