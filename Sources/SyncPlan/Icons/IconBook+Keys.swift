// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules

// Groups of URLs with the same cache key: the newest URL is requested, and the others share its image.
extension IconBook {
    /// Adds newly named URLs to their groups; a URL without an image gets the image of its group.
    mutating func addKeys(of urls: Set<IconURL>, in turn: inout Turn) {
        guard !settings.keys.isEmpty else { return }
        for url in urls {
            guard let key = settings.keys.key(of: url), keyGroups.add(url, key) else { continue }
            let others = keyGroups.others(of: url)
            if let source = others.last(where: { catalog.icons[$0]?.hasImage == true }) {
                inherit(from: source, to: url, in: &turn)
            }
            // Only the newest URL is requested.
            for id in others.compactMap({ catalog.icons.id(of: $0) }) where catalog.icons[id].icon.isQueued {
                dequeue(id, in: &turn)
            }
        }
    }

    /// Whether an icon itself is requested: it is the newest referenced URL of its group.
    func isRequested(_ url: IconURL) -> Bool {
        keyGroups.isEmpty
            || keyGroups.group(of: url).last { catalog.icons[$0]?.isReferenced == true }.map { $0 == url } ?? true
    }

    /// The other icons of the groups of these URLs.
    func others(of urls: Set<IconURL>) -> Set<IconURL> {
        keyGroups.isEmpty ? [] : Set(urls.flatMap { keyGroups.others(of: $0) })
    }

    /// Decides icons that may be the newest of their group now.
    mutating func requestNewest(of urls: Set<IconURL>, in turn: inout Turn) {
        for url in urls {
            guard let id = catalog.icons.id(of: url), catalog.icons[id].icon.isReferenced, isRequested(url) else {
                continue
            }
            if catalog.icons[id].icon.hasFailed {
                apply(.retried(turn.now), to: id, in: &turn)
            } else {
                decide(id, in: &turn)
            }
        }
    }

    /// Passes the result of an icon on to the other icons of its group.
    mutating func share(_ event: IconEvent, of url: IconURL, in turn: inout Turn) {
        switch event {
        case .published, .confirmed, .ended(.confirmed, _):
            for other in keyGroups.others(of: url) where catalog.icons[other]?.isReferenced == true {
                inherit(from: url, to: other, in: &turn)
            }
        case .failed(let failure), .ended(.failed(let failure), _):
            // Only the newest URL has attempts; the others wait for it.
            guard isRequested(url) else { return }
            var failure = failure
            failure.nextAttempt = nil
            for other in keyGroups.others(of: url) {
                guard let icon = catalog.icons[other], icon.isReferenced, !icon.hasImage, icon.phase == .idle,
                    icon.failure != failure
                else { continue }
                apply(.failed(failure), to: other, in: &turn)
            }
        default: break
        }
    }

    private mutating func inherit(from source: IconURL, to url: IconURL, in turn: inout Turn) {
        guard let from = catalog.icons[source], let image = from.image, let icon = catalog.icons[url],
            !icon.hasStaged, icon.accepts(catalog.images[image].key), catalog.images[image].isOnDisk
        else { return }
        let isNew = icon.image != image
        guard isNew || icon.freshUntil != from.freshUntil || icon.failure != nil else { return }
        if isNew { catalog.names.review(url, own: icon.image, in: &catalog.images) }
        apply(
            .inherited(image, catalog.icons.response(of: source), freshUntil: from.freshUntil), to: url, in: &turn)
    }

    /// Makes the groups anew; if a rule changed, icons that shared an image are requested again without validators.
    mutating func resetKeys(in turn: inout Turn) {
        let before = keyGroups.shared
        keyGroups = KeyGroups()
        if !settings.keys.isEmpty {
            for url in catalog.icons.urls.sorted() {
                if let key = settings.keys.key(of: url) { _ = keyGroups.add(url, key) }
            }
        }
        for url in Set(before).union(keyGroups.shared) where catalog.icons[url]?.isReferenced == true {
            apply(.expires(turn.now), to: url, in: &turn)
        }
    }
}
