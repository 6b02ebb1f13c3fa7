// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HTTPRules
package import Reports

extension Reconciler {
    /// A number that changes whenever ``mentions`` does.
    package var mentionsVersion: Int { book.catalog.version }

    /// The entries that name each icon.
    ///
    /// O(*n*) in the number of retired icons: the entries are made later, outside the agent's loop.
    package var mentions: IconMentions {
        let (lists, texts) = (book.catalog.lists, book.catalog.icons.texts)
        return IconMentions(
            version: book.catalog.version,
            lists: lists.map { ($0.key, $0.value.apps.entries(texts)) }.sorted { $0.0 < $1.0 },
            retired: Array(book.catalog.retired.keys))
    }

    /// The summaries of some icons, without the apps' names; unknown icons are left out.
    package func summaries(of urls: some Sequence<IconURL>, now: Timestamp) -> [IconSummary] {
        urls.compactMap { url in
            book.catalog.icons[url].map { IconSummary(url: url, $0, in: book.catalog, turn.wallClock, now: now) }
        }
    }

    /// The number of icons that a list names, or any list (`nil`), optionally in one state; only the latter counts
    /// retired icons.
    package func count(ofIconsIn list: ListName?, _ state: IconSummary.State?) -> Int {
        let tally = list.map { book.catalog.tallies[$0] ?? IconTally() } ?? book.catalog.tally.all
        let retired = list == nil ? book.catalog.retired.count : 0
        return switch state {
        case .ready: tally.icons.ready
        case .pending: tally.icons.pending
        case .failed: tally.icons.failed
        case .retired: retired
        case nil: tally.icons.total + retired
        }
    }

    /// The icons of a list, or of any list (`nil`), whose last refresh failed; O(*n*) in the number of icons while one
    /// fails, else O(1).
    package func staleIcons(of list: ListName?) -> Set<IconURL> {
        guard book.catalog.tally.stale > 0 else { return [] }
        let icons = book.catalog.icons
        let stale = icons.ids.filter { id in
            icons[id].icon.isStale && list.map { icons[id].icon.lists.contains($0) } ?? true
        }
        return Set(stale.map { icons.url(of: $0) })
    }

    package func knows(list: ListName) -> Bool { book.catalog.lists[list] != nil }
}

extension IconSummary {
    init(url: IconURL, _ icon: IconRecord, in catalog: Catalog, _ clock: WallClock, now: Timestamp) {
        self.init(url: url, state: State(icon), lists: icon.lists.sorted())
        let last = catalog.lastImage(for: url)
        previous = last?.url
        let image = (icon.image ?? last?.image).map(catalog.images.image)
        (path, sha256, bytes, type) = (image?.path, image?.sha256.hex, image?.bytes, image?.type)
        (width, height) = (image?.width, image?.height)
        error = icon.isUnpublished ? nil : icon.failure?.code.rawValue
        stale = icon.staleness(by: catalog.icons.response(of: url)?.unpacked, at: now, shown: clock.time)
    }
}

extension IconSummary.State {
    /// The state as readers see it: an icon is ready once its image is published.
    init(_ icon: IconRecord) {
        guard icon.isReferenced else {
            self = .retired
            return
        }
        switch icon.shownStanding {
        case .ready: self = .ready
        case .pending: self = .pending
        case .failed: self = .failed
        }
    }
}
