// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// One icon, as a page of icons tells of it.
package struct IconSummary: Codable, Equatable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
        case ready, pending, failed, retired
    }

    package var url: IconURL
    /// What lists call it.
    package var names: [String] = []
    /// `ready` if its image is on disk, `pending`, `failed`, or `retired` if no list names it.
    package var state: State
    package var lists: [ListName]
    /// The image on disk, relative to the cache folder.
    package var path: String?
    package var sha256: String?
    package var bytes: Int?
    package var type: String?
    package var width: Int?
    package var height: Int?
    /// The code of the last failure, if the icon failed or its last refresh did.
    package var error: String?
    /// That its last refresh failed, as a sentence; `nil` if it did not.
    package var stale: String?
    /// The URL that the image came from, if it is the previous one of an app, and the icon has none of its own yet.
    package var previous: IconURL?

    package init(url: IconURL, state: State, lists: [ListName]) {
        (self.url, self.state, self.lists) = (url, state, lists)
    }

    package var json: JSON {
        [
            "url": .text(url), "names": .array(names.map(JSON.string)), "state": .string(state.rawValue),
            "lists": .array(lists.map(JSON.text)), "path": .string(orNull: path), "sha256": .string(orNull: sha256),
            "bytes": bytes.map(JSON.number) ?? .null, "type": .string(orNull: type),
            "width": width.map(JSON.number) ?? .null, "height": height.map(JSON.number) ?? .null,
            "error": .string(orNull: error), "stale": .string(orNull: stale),
            "previous": previous.map(JSON.text) ?? .null,
        ]
    }
}

/// Some of the icons, in the order of their URLs.
package struct IconPage: Codable, Equatable, Sendable {
    package var icons: [IconSummary]
    /// Where the next page begins; `nil` on the last one.
    package var next: String?
    /// How many icons there are on all pages.
    package var total: Int

    package init(icons: [IconSummary], next: String?, total: Int) {
        self.icons = icons
        self.next = next
        self.total = total
    }

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        [
            "format": 1, "icons": .lines(.array(icons.map(\.json))), "next": .string(orNull: next),
            "total": .number(total),
        ]
    }
}

/// Who names what, from which an ``IconIndex`` is made.
package struct IconMentions: Sendable {
    /// Another one whenever lists name something else, or other icons are retired.
    package var version: Int
    package var lists: [(name: ListName, entries: [AppEntry])]
    /// The icons that no list names.
    package var retired: [IconURL]

    package init(version: Int, lists: [(name: ListName, entries: [AppEntry])], retired: [IconURL]) {
        (self.version, self.lists, self.retired) = (version, lists, retired)
    }
}
