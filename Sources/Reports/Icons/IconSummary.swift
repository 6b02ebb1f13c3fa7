// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

package struct IconSummary: Codable, Equatable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
        case ready, pending, failed, retired
    }

    package var url: IconURL
    package var names: [String] = []
    /// `ready` if its image is on disk, `pending`, `failed`, or `retired` if no list names it.
    package var state: State
    package var lists: [ListName]
    /// The path of the image on disk, relative to the cache folder.
    package var path: String?
    package var sha256: String?
    package var bytes: Int?
    package var type: String?
    package var width: Int?
    package var height: Int?
    /// The code of the last failure, if the icon or its last refresh failed.
    package var error: String?
    /// A sentence which says that the last refresh failed; `nil` if it did not.
    package var stale: String?
    /// The URL of the app's previous image, if the entry shows it because the icon has no image yet.
    package var previous: IconURL?

    package init(url: IconURL, state: State, lists: [ListName]) {
        (self.url, self.state, self.lists) = (url, state, lists)
    }
}

package struct IconPage: Codable, Equatable, Sendable {
    package var icons: [IconSummary]
    /// The cursor of the next page; `nil` on the last one.
    package var next: String?
    package var total: Int

    package init(icons: [IconSummary], next: String?, total: Int) {
        (self.icons, self.next, self.total) = (icons, next, total)
    }

    package var json: JSON { .document(self, lines: ["icons"]) }
}

package struct IconMentions: Sendable {
    /// A number that changes whenever an entry or a retired icon does.
    package var version: Int
    let lists: @Sendable () -> [(name: ListName, entries: AppEntries)]
    package var retired: [IconURL]

    /// The lists, which are sorted by name, are made when they are used.
    package init(
        version: Int, lists: @autoclosure @escaping @Sendable () -> [(name: ListName, entries: AppEntries)],
        retired: [IconURL]
    ) {
        (self.version, self.lists, self.retired) = (version, lists, retired)
    }
}
