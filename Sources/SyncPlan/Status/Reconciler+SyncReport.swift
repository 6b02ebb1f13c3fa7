// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import Fleet
package import Reports

extension Reconciler {
    /// The progress of the named lists, or of all lists; an icon in several of them counts once for each.
    ///
    /// O(*n*) in the number of lists, and in the number of origins from which their icons are queued.
    package func syncReport(of names: [ListName]) -> SyncReport {
        var report = SyncReport(missing: names.filter { book.catalog.lists[$0] == nil })
        let lists = names.isEmpty ? Array(book.catalog.lists.keys) : Set(names).filter { book.catalog.lists[$0] != nil }
        let (icons, isOnItsWay) = progress(of: names)
        (report.ready, report.pending, report.failed) = (icons.ready, icons.pending, icons.failed)
        report.rejected = lists.sorted().compactMap { name in
            book.catalog.lists[name]?.rejection.map { SyncReport.Rejection(list: name, message: $0.message) }
        }
        let deferred = lists.contains(where: book.publishing.window.deferred.contains) ? book.space.reason : nil
        let isPublished =
            names.isEmpty
            ? book.publishing.inFlight == nil && !book.publishing.window.isManifestChanged
                && lists.allSatisfy(isWritten)
            : names.allSatisfy(isWritten)
        // A list whose file has just disappeared may come back in a moment; after that it counts as removed.
        let isDecided = names.isEmpty ? folder.isSettled : folder.missing.isDisjoint(with: names)
        // A publication of other lists that failed leaves these published, unless it is unknown which files are on
        // disk.
        let isCertain = isPublished && cache.isKnown && !book.publishing.isInDoubt
        let trouble = names.isEmpty || !isCertain ? book.publishing.trouble : nil
        report.error = folder.unavailable ?? trouble ?? refusal(of: names) ?? deferred
        report.lists = lists.count
        report.publishedLists = lists.count(where: isUpToDate)
        report.downloadedBytes = book.downloads.receivedBytes
        if icons.pending > 0 { report.hold = syncHold(icons, names, isOnItsWay: isOnItsWay) }
        report.isDone =
            folder.isScanned && !isPurging
            && (folder.unavailable != nil || trouble != nil && isStoreIdle
                || (isDecided && !isOnItsWay && isPublished && cache.isKnown))
        return report
    }

    private func syncHold(_ icons: IconCounts, _ names: [ListName], isOnItsWay: Bool) -> String? {
        if book.downloads.isPaused { return "downloads are paused" }
        if let reason = book.space.reason ?? book.publishing.trouble ?? refusal(of: names) { return reason }
        if isOnItsWay { return nil }
        if book.sources.hasWaiting { return book.sources.reasonToWait(images: icons.pending) }
        guard book.downloads.queue.heldCount > 0 else { return nil }
        return "\(icons.pending == 1 ? "its server" : "their servers") failed or asked to wait"
    }

    /// Why the cache folder refuses images of these lists, or of any; `nil` if it does not.
    private func refusal(of names: [ListName]) -> String? {
        names.isEmpty || names.contains(where: hasRefused) ? book.publishing.refusal : nil
    }

    private func hasRefused(_ list: ListName) -> Bool {
        book.publishing.unplaced.contains { book.catalog.icons[$0].icon.lists.contains(list) }
    }

    /// Whether the newest manifest has a list's current state, apart from images that the cache folder refuses.
    func isWritten(_ list: ListName) -> Bool {
        let plan = book.publishing
        return isUpToDate(list)
            || plan.window.isWaiting(list, at: turn.now) && !plan.isInFlight(list) && hasRefused(list)
    }

    /// Whether the cache folder refuses the image of an icon.
    func isRefused(_ url: IconURL) -> Bool {
        book.catalog.icons.id(of: url).map(book.publishing.unplaced.contains) ?? false
    }

    private func isUpToDate(_ list: ListName) -> Bool { book.publishing.isUpToDate(list, in: book.catalog) }

    /// The number of icons in each state, and whether work in progress may bring an image that somebody waits for.
    func progress(of names: [ListName]) -> (icons: IconCounts, isOnItsWay: Bool) {
        let tallies = names.isEmpty ? [book.catalog.tally.all] : Set(names).compactMap { book.catalog.tallies[$0] }
        return (tallies.reduce(IconCounts()) { $0 + $1.icons }, tallies.contains(where: isUnderWay))
    }

    /// The icons of some lists, which are then downloaded before others; empty without lists.
    package func urls(of names: [ListName]) -> [IconURL] {
        Set(names).flatMap(book.catalog.urls(in:))
    }

    /// Whether work in progress may change an icon's state.
    package func isComing(_ url: IconURL) -> Bool {
        guard let icon = book.catalog.icons[url] else { return false }
        return switch icon.phase {
        case .idle: book.mayDownload && book.sources.isPolling && book.sources.isWaiting(url)
        case .blocked: false
        case .queued(_, let origin): book.mayDownload && !book.downloads.queue.isHeld(origin: origin)
        case .fetching: true
        case .staged: book.publishing.failure(of: book.catalog.icons.id(of: url)) == nil
        }
    }

    private func isUnderWay(_ icons: IconTally) -> Bool {
        if icons.fetching > 0 { return true }
        guard book.mayDownload else { return false }
        return icons.queued.keys.contains { !book.downloads.queue.isHeld(origin: $0) }
            || icons.icons.pending > 0 && book.sources.isPolling && book.sources.hasWaiting
    }

    package var pinReport: PinReport {
        PinReport(
            pins: pins, isPublished: arePinsPublished && !book.publishing.isInDoubt, error: book.publishing.trouble)
    }
}
