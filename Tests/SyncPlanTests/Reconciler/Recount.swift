// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

@testable import Reports
@testable import SyncPlan

/// What a plan keeps count of, counted again from the lists and icons themselves.
extension Reconciler {
    /// What is counted otherwise than it is; `nil` if nothing is.
    var miscount: String? {
        var recounted = status
        recounted.lists = book.catalog.lists.sorted { $0.key < $1.key }.map { name, list in
            var row = StatusReport.List(name: name, state: list.state.word)
            let states = book.catalog.document(of: name)?.apps.map(\.state) ?? []
            row.count(
                IconCounts(
                    states.indices.map { index in
                        let isShown = list.apps[past: index].last != nil
                        return !isShown && book.catalog.icons[list.icons[index]].icon.isUnpublished
                            ? .pending : states[index]
                    }))
            row.previous = list.icons.indices.count { list.apps[past: $0].last != nil }
            row.error = list.rejection?.message
            row.code = list.rejection?.code.rawValue
            row.problems = list.problems.count
            row.kept = list.kept
            return row
        }
        recounted.icons = StatusReport.Icons()
        let kept = book.catalog.lists.flatMap { name, list in
            list.icons.indices.compactMap { entry in
                list.apps[past: entry].last.map { (icon: list.icons[entry], previous: $0) }
            }
        }
        recounted.icons.previous = Set(kept.map(\.icon)).count
        let since = kept.compactMap(\.previous.since).min()
        recounted.icons.previousSince = since.map { turn.wallClock.time(of: $0).description }
        recounted.icons.previousExample = status.icons.previousExample
        recounted.icons.previousList = status.icons.previousList
        recounted.icons.count(
            IconCounts(records.filter(\.isReferenced).map { $0.shownState(in: book.catalog.images) }))
        (recounted.downloads.waiting, recounted.downloads.blocked) = (0, 0)
        recounted.downloads.queued = 0
        for icon in records {
            let isQueued = icon.isQueued && !icon.isHeld(in: book.downloads.queue)
            if isQueued { recounted.downloads.queued += 1 }
            guard icon.isReferenced else { continue }
            if icon.image != nil, icon.staged == nil, icon.failure != nil { recounted.icons.stale += 1 }
            let isHeld = icon.isHeld(in: book.downloads.queue)
            if isHeld || icon.phase == .idle && icon.failure?.nextAttempt != nil { recounted.downloads.waiting += 1 }
            let isShut =
                icon.phase == .blocked || icon.phase == .idle && book.downloads.isPaused
                || icon.isQueued && (book.downloads.isPaused || !book.space.isOpen)
            if case .pending = icon.state(in: book.catalog.images), isHeld || isShut {
                recounted.downloads.blocked += 1
                // Each is counted once.
                if isQueued { recounted.downloads.queued -= 1 }
            }
        }
        let retiredImages = book.catalog.retiredImages
        recounted.icons.retired = retiredImages.count
        for (url, image) in retiredImages where !book.catalog.images[image].isOnDisk {
            return "\(url) is retired, and its image is not on disk"
        }
        if recounted != status { return "status is \(status), and should be \(recounted)" }
        for names in [[]] + book.catalog.lists.keys.map({ [$0] }) {
            let (told, found) = (progress(of: names), recountedProgress(of: names))
            if told != found { return "the progress of \(names) is \(told), and should be \(found)" }
        }
        var found: [IconSummary.State: Int] = [:]
        for icon in records where icon.isReferenced || icon.image != nil {
            found[IconSummary.State(icon), default: 0] += 1
        }
        for state in IconSummary.State.allCases {
            let (count, found) = (count(ofIconsIn: nil, state), found[state, default: 0])
            if count != found { return "\(count) icons are \(state), and should be \(found)" }
        }
        let notes = records.count { $0.due != nil }
        if book.catalog.tally.scheduled != notes {
            return "\(book.catalog.tally.scheduled) icons are noted, and should be \(notes)"
        }
        let retired = book.catalog.icons.ids.filter { book.catalog.icons[$0].icon.isRetired }
            .map { (book.catalog.icons.url(of: $0), book.catalog.icons[$0].icon.image) }
        let images = Dictionary(uniqueKeysWithValues: retired)
        if book.catalog.retired as [IconURL: ImageID?] != images {
            return "what is retired is \(book.catalog.retired)"
        }
        for (url, image) in retired
        where image.map({ !book.catalog.images[$0].isShown }) == true && retiredImages[url] == nil {
            return "\(url) is not told of as retired"
        }
        return miscountOfImages ?? miscountOfNamedIcons ?? miscountOfLastImages ?? miscountOfBytes
    }

    /// What is kept of the sources of last images, if it differs from what the apps show; `nil` if it does not.
    private var miscountOfLastImages: String? {
        var sources: [IconURL: Set<AppIndex>] = [:]
        for (name, list) in book.catalog.lists {
            for (position, past) in list.apps.pasts {
                guard let last = past.last else { continue }
                sources[last.url, default: []].insert(AppIndex(list: name, position: position))
            }
        }
        let kept = book.catalog.pastIndex.sources
        return kept == sources ? nil : "the sources of last images are \(kept), and should be \(sources)"
    }

    /// The bytes that the table of icons has otherwise than its rows; `nil` if there are none.
    private var miscountOfBytes: String? {
        let icons = book.catalog.icons
        var (texts, responses) = (0, 0)
        for id in icons.allIDs {
            texts += icons.url(of: id).text.utf8.count
            guard let response = icons.response(of: id) else { continue }
            let other = response.url.flatMap { IconURL($0) == icons.url(of: id) ? nil : $0 }
            responses += 1 + response.bytes.count + (other.map { 4 + $0.utf8.count } ?? 0)
        }
        let used = (icons.texts.used, icons.bytesOfResponses)
        return used == (texts, responses) ? nil : "\(used) bytes are in use, and should be \(texts), \(responses)"
    }

    private var records: [IconRecord] { book.catalog.icons.ids.map { book.catalog.icons[$0].icon } }

    /// The icon that documents name another number of times than it is counted, or whose number is one too many; `nil` if
    /// there is none.
    private var miscountOfNamedIcons: String? {
        let icons = book.catalog.icons
        var documents: [IconID: Int] = [:]
        for icon in book.retention.ledger.documents.values.flatMap(\.icons) { documents[icon, default: 0] += 1 }
        for (icon, count) in documents
        where icons[icon].documents != count || icons.id(named: icons.url(of: icon)) != icon {
            return "\(icons.url(of: icon)) is counted in \(icons[icon].documents) documents, and should be in \(count)"
        }
        for (name, list) in book.catalog.lists {
            guard list.icons.contains(where: { icons.id(of: icons.url(of: $0)) != $0 }) else { continue }
            return "\(name) has the numbers of other icons"
        }
        for icon in icons.allIDs where documents[icon] == nil {
            let isWaiting = book.retention.ledger.unnamedIcons.contains(icon)
            if icons[icon].documents > 0 || icons[icon].isNamed != isWaiting {
                return "\(icons.url(of: icon)) is counted in documents, and no one names it"
            }
        }
        return nil
    }

    /// The image that is counted otherwise than icons, apps, names and documents have it, or whose number is one too many;
    /// `nil` if none is.
    private var miscountOfImages: String? {
        let (catalog, images) = (book.catalog, book.catalog.images)
        var (icons, documents, holders): ([ImageID: Int], [ImageID: Int], [ImageID: Int]) = ([:], [:], [:])
        func hold(_ image: ImageID?) { if let image { holders[image, default: 0] += 1 } }
        for icon in records {
            if icon.isReferenced, let image = icon.image { icons[image, default: 0] += 1 }
            if !icon.isReferenced { hold(icon.image) }
            hold(icon.staged?.image)
        }
        for past in catalog.lists.values.flatMap(\.apps.pasts).map(\.past) {
            if let image = past.last?.image { icons[image, default: 0] += 1 }
            hold(past.before?.image)
        }
        for image in catalog.orphans.values { hold(image) }
        for name in catalog.names.names.values {
            hold(name.image)
            hold(name.next)
        }
        for document in book.retention.ledger.documents.values {
            for image in document.images { documents[image, default: 0] += 1 }
            for last in document.apps.map(\.last) where !document.images.contains(last.image) {
                return "\(last) is shown in a document that does not name it"
            }
        }
        for icon in book.publishing.staged.union(book.publishing.inFlight?.staged ?? [])
        where !catalog.icons[icon].icon.hasStaged {
            return "\(catalog.icons.url(of: icon)) has no staged image to publish"
        }
        let ids = Set(images.ids)
        for image in ids {
            let row = images[image]
            let named = (icons[image] ?? 0, documents[image] ?? 0, holders[image] ?? 0)
            if (Int(row.icons), Int(row.documents), Int(row.holders)) != named {
                return "\(row) should be named \(named) times"
            }
            if !row.isUsed || images.id(of: row.key) != image { return "\(row) should be forgotten" }
            if row.isKnown != (row.documents > 0 || images.unnamed.contains(image)) {
                return "\(row) is in another state"
            }
        }
        if let free = Set(icons.keys).union(documents.keys).union(holders.keys).union(images.unnamed).subtracting(ids)
            .first
        {
            return "\(free) is named, and the number of no image"
        }
        if images.rows.count != ids.count { return "\(images.rows.count) images are known, and should be \(ids.count)" }
        if images.shown != icons.count { return "\(images.shown) images are shown, and should be \(icons.count)" }
        if let image = images.unnamed.first(where: { documents[$0] != nil }) { return "\(images[image]) is named" }
        let whole = ids.filter { images[$0].isOnDisk }
        let bytes = whole.reduce(0) { $0 &+ images.image($1).bytes }
        if images.holdings != (whole.count, bytes) {
            return "\(images.holdings) are in icons/, and should be \(whole.count), \(bytes)"
        }
        return nil
    }

    private func recountedProgress(of names: [ListName]) -> (icons: IconCounts, isOnItsWay: Bool) {
        var counts = IconCounts()
        var isOnItsWay = false
        let lists = names.isEmpty ? Array(book.catalog.lists.keys) : names
        for url in Set(lists.flatMap { book.catalog.urls(in: $0) }) {
            guard let icon = book.catalog.icons[url] else { continue }
            counts.add(icon.shownState(in: book.catalog.images).status)
            let isUnderWay =
                icon.phase == .fetching || icon.isQueued && book.mayDownload && !icon.isHeld(in: book.downloads.queue)
            let isAwaited = icon.isAwaited || icon.isFullRequested
            let isCurrent = book.catalog.images.digest(icon.image).map(icon.accepts) ?? icon.hasImage
            isOnItsWay = isOnItsWay || isUnderWay && (isAwaited || !isCurrent)
        }
        return (counts, isOnItsWay)
    }
}

extension IconRecord {
    /// The state as readers see it.
    func shownState(in images: ImageTable) -> AppListDocument.State { isUnpublished ? .pending : state(in: images) }
}
