// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports

// Groups of URLs with the same cache key: the newest URL is requested, or the newest of those that lists with a credential
// name, and the others share its image.
extension IconBook {
    /// Makes the groups anew: retired icons in the order of their responses, then those that lists name, in the order in
    /// which the files changed.
    mutating func groupKeys() {
        keyGroups = KeyGroups()
        guard !settings.keys.isEmpty else { return }
        let retired = catalog.icons.ids.filter { !catalog.icons[$0].icon.isReferenced }
            .map { (catalog.icons.response(of: $0)?.responseTime ?? .distantPast, catalog.icons.url(of: $0)) }
            .sorted { $0 < $1 }
        let lists = catalog.lists.sorted {
            ($0.value.source?.modified ?? .distantPast, $0.key) < ($1.value.source?.modified ?? .distantPast, $1.key)
        }
        for (url, key) in keyed(retired.map(\.1) + lists.flatMap { catalog.urls(in: $0.key) }) {
            keyGroups.add(url, key: key, rank(of: url))
        }
    }

    private func keyed(_ urls: [IconURL]) -> [(url: IconURL, key: IconURL)] {
        urls.compactMap { url in settings.keys.key(of: url).map { (url, $0) } }
    }

    /// Without the credentialed rank, a list without the credential could keep an icon from the lists that have it.
    private func rank(of url: IconURL) -> KeyGroups.Rank {
        guard let icon = catalog.icons[url], icon.isReferenced else { return .retired }
        return settings.credentials.hasAny(for: url, in: icon.lists) ? .credentialed : .named
    }

    /// Changes the groups as a list changed; URLs that it names now get the newest image of their group.
    mutating func changeKeys(_ diff: IconDiff, of list: ListName, in turn: inout Turn) {
        guard !settings.keys.isEmpty else { return }
        let named = diff.added.isEmpty ? [] : keyed(catalog.urls(in: list).filter(diff.added.contains))
        let keys = keyGroups.keys(of: diff.removed).union(named.lazy.map(\.key))
        // The icon of each group that was requested until now.
        var requested: [IconURL: IconURL] = [:]
        for key in keys { requested[key] = keyGroups.last(of: key) }
        rankKeys(of: diff.removed)
        // The newest icon of each group that has an image.
        var newest: [IconURL: IconURL] = [:]
        for key in Set(named.lazy.map(\.key)) {
            newest[key] = keyGroups.last(of: key) { catalog.icons[$0]?.hasImage == true }
        }
        for (url, key) in named { keyGroups.add(url, key: key, rank(of: url)) }
        for (url, key) in named {
            if let source = newest[key], source != url, !isOlder(source, than: url) {
                inherit(from: source, to: url, in: &turn)
            }
            if catalog.icons[url]?.hasImage == true { newest[key] = url }
        }
        for key in keys.sorted() {
            guard let last = keyGroups.last(of: key) else { continue }
            if let before = requested[key], before != last { dequeue(before, in: &turn) }
            // It may have failed before the others were named.
            guard keyGroups.requested(for: last)?.rank == .credentialed, let icon = catalog.icons[last], !icon.hasImage,
                let failure = icon.failure
            else { continue }
            share(.failed(failure), of: last, in: &turn)
        }
    }

    /// Removes an icon from the queue that is not requested any more, although lists name it.
    private mutating func dequeue(_ url: IconURL, in turn: inout Turn) {
        guard let id = catalog.icons.id(of: url), catalog.icons[id].icon.isQueued, catalog.icons[id].icon.isReferenced
        else { return }
        dequeue(id, in: &turn)
    }

    private mutating func rankKeys(of urls: Set<IconURL>) {
        keyGroups.rank(Dictionary(uniqueKeysWithValues: urls.map { ($0, rank(of: $0)) }))
    }

    /// Ranks all icons again, because the credentials changed.
    mutating func rankAllKeys(in turn: inout Turn) {
        let last = Set(keyGroups.shared.compactMap(\.last))
        rankKeys(of: keyGroups.urls)
        requestNewest(of: Set(keyGroups.shared.compactMap(\.last)).subtracting(last), in: &turn)
    }

    /// Gives icons without an image that of their group, as if an earlier run ended before it passed that on.
    mutating func inheritMissing(in turn: inout Turn) {
        for group in keyGroups.shared {
            guard let source = group.last(where: { catalog.icons[$0]?.hasImage == true }) else { continue }
            for url in group where catalog.icons[url]?.isReferenced == true && catalog.icons[url]?.hasImage == false {
                inherit(from: source, to: url, in: &turn)
            }
        }
    }

    /// Whether an icon's response is known to be older than that of another one, as if an earlier run ended before it
    /// passed that on.
    private func isOlder(_ url: IconURL, than other: IconURL) -> Bool {
        guard let last = catalog.icons.response(of: url), let own = catalog.icons.response(of: other)
        else { return false }
        return last.responseTime < own.responseTime
    }

    /// Whether an icon itself is requested: it is the last one of its group.
    func isRequested(_ url: IconURL) -> Bool {
        keyGroups.requested(for: url).map { $0.url == url || $0.rank == .retired } ?? true
    }

    /// Decides the icons of groups whose last URL may have changed; an icon that waited for another one is requested.
    mutating func requestNewest(of urls: Set<IconURL>, in turn: inout Turn) {
        for url in urls.sorted() {
            guard let id = catalog.icons.id(of: url), catalog.icons[id].icon.isReferenced, isRequested(url) else {
                continue
            }
            if let failure = catalog.icons[id].icon.failure, failure.nextAttempt == nil {
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
            for other in keyGroups.others(of: url)
            where catalog.icons[other]?.isReferenced == true && !isOlder(url, than: other) {
                inherit(from: url, to: other, in: &turn)
            }
        case .failed(let failure), .ended(.failed(let failure), _):
            // Only the last URL has attempts; the others wait for it.
            guard isRequested(url) else { return }
            var failure = failure
            failure.nextAttempt = nil
            for other in keyGroups.others(of: url) {
                guard let icon = catalog.icons[other], icon.isReferenced, !icon.hasImage, icon.phase == .idle,
                    icon.failure != failure
                else { continue }
                apply(.failed(failure), to: other, in: &turn)
            }
        case .withdrawn:
            for other in keyGroups.others(of: url) where catalog.icons[other]?.failure?.attempts == 0 {
                apply(.withdrawn, to: other, in: &turn)
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
        if !icon.hasImage, icon.isReferenced {
            turn.emit(.iconReady(url, bytes: catalog.images.bytes(image), generation: nil))
        }
        apply(
            .inherited(image, catalog.icons.response(of: source), freshUntil: from.freshUntil), to: url, in: &turn)
        // It may not be requested again.
        discardParts(of: [url], in: &turn)
    }

    /// Makes the groups anew; if a rule changed, icons that shared an image are requested again without validators.
    mutating func resetKeys(in turn: inout Turn) {
        let before = keyGroups.shared
        groupKeys()
        for url in Set((before + keyGroups.shared).joined()).sorted() where catalog.icons[url]?.isReferenced == true {
            let hasFailed = catalog.icons[url]?.hasFailed == true
            apply(hasFailed ? .retried(turn.now) : .expires(turn.now), to: url, in: &turn)
            if !isRequested(url) { dequeue(url, in: &turn) }
        }
    }
}
