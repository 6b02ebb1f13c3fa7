// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// One icon, as a page of icons tells of it.
package struct IconSummary: Codable, Equatable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
        case ready, pending, failed, retired

        /// The state of an icon as readers find it: it is ready once its image is published.
        init(_ icon: IconRecord) {
            guard icon.isReferenced else {
                self = .retired
                return
            }
            switch icon.standing {
            case .ready: self = icon.isUnpublished ? .pending : .ready
            case .pending: self = .pending
            case .failed: self = .failed
            }
        }
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

    init(url: IconURL, _ icon: IconRecord, previous last: PreviousImage? = nil, now: Timestamp) {
        self.url = url
        lists = icon.lists.sorted()
        state = State(icon)
        previous = last?.url
        let image = icon.image ?? last?.image.wrappedValue
        (path, sha256, bytes, type) = (image?.path, image?.sha256.hex, image?.bytes, image?.type)
        (width, height) = (image?.width, image?.height)
        error = icon.isUnpublished ? nil : icon.failure?.code.rawValue
        stale = icon.staleness(at: now)
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
}

extension Reconciler {
    /// Another number whenever ``mentions`` are others.
    package var mentionsVersion: Int { catalog.version }

    /// Who names what.
    ///
    /// - Complexity: O(*n* log *n*) in the number of lists, and O(*n*) in that of retired icons: entries are not copied.
    package var mentions: IconMentions {
        IconMentions(
            version: catalog.version,
            lists: catalog.lists.map { ($0.key, $0.value.entries) }.sorted { $0.0 < $1.0 },
            retired: Array(catalog.retired.keys))
    }

    /// What there is to tell of some icons, without their names; those that nothing is known of are left out.
    package func summaries(of urls: some Sequence<IconURL>, now: Timestamp) -> [IconSummary] {
        urls.compactMap { url in
            catalog.icons[url].map {
                IconSummary(url: url, $0, previous: catalog.previous.shown(for: url), now: now)
            }
        }
    }

    /// How many icons a list names, or all lists, and how many are in a state; retired ones count if no list is given.
    package func count(ofIconsIn list: ListName?, _ state: IconSummary.State?) -> Int {
        let tally = list.map { catalog.tallies[$0] ?? IconTally() } ?? catalog.tally.all
        let retired = list == nil ? catalog.retired.count : 0
        return switch state {
        case .ready: tally.icons.ready - tally.unpublished
        case .pending: tally.icons.pending + tally.unpublished
        case .failed: tally.icons.failed
        case .retired: retired
        case nil: tally.icons.total + retired
        }
    }

    /// Whether a list is known.
    package func knows(list: ListName) -> Bool { catalog.lists[list] != nil }
}
