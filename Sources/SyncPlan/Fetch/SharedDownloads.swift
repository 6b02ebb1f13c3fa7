// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The downloads of icons whose URLs differ only in their fragment: no request contains it (RFC 9110, section 7.1).
struct SharedDownloads: Sendable {
    /// The icon that was requested last, by URL without its fragment.
    private var requested: [IconURL: IconURL] = [:]
    /// A request that waits for the end of another icon's download.
    struct Waiting: Sendable {
        var request: FetchRequest
        /// Whether the icon takes the result of the other download, and is not requested after it.
        var isShared: Bool
    }

    /// The waiting requests, by the URL of the icon whose download they wait for.
    private var waiting: [IconURL: [Waiting]] = [:]
    /// The icon that each waiting icon waits for.
    private var awaited: [IconURL: IconURL] = [:]
    /// The icons that get a copy of an image, each with the icon that it was downloaded for.
    private var copying: [IconURL: IconURL] = [:]
    /// The icons that a user wants requested, whatever icons with the same key have got.
    private var insisted: Set<IconURL> = []
    /// When a user last asked for a full request of an icon.
    private var fullRequests: [IconURL: Timestamp] = [:]
    /// The icons whose last download failed, by URL without its fragment.
    private var failed: [IconURL: Set<IconURL>] = [:]

    /// Whether no icon shares its URL, without the fragment, with another one.
    var isEmpty: Bool { requested.isEmpty && waiting.isEmpty && failed.isEmpty }

    /// The URL without its fragment, if another icon has the same, or may get it; `nil` for most icons.
    private func key(of url: IconURL) -> IconURL? {
        guard !url.hasFragment else { return url.withoutFragment }
        let isKnown = !requested.isEmpty && requested[url] != nil || !failed.isEmpty && failed[url] != nil
        return isKnown ? url : nil
    }

    /// The icon that was requested last for the same URL without its fragment; `nil` if there is none, or if it is this
    /// one.
    func requested(before url: IconURL) -> IconURL? {
        guard let key = key(of: url) else { return nil }
        let last = requested[key] ?? key
        return last == url ? nil : last
    }

    /// Records that an icon is requested from its server, or has an image from there.
    mutating func record(_ url: IconURL) {
        if let key = key(of: url) { requested[key] = url }
    }

    /// Forgets an icon that no list names any more.
    mutating func forget(_ url: IconURL) {
        _ = endInsistence(on: url)
        if !fullRequests.isEmpty { fullRequests[url] = nil }
        endFailure(of: url)
        if let key = key(of: url), requested[key] == url { requested[key] = nil }
    }

    /// Records that a user wants an icon requested, whatever icons with the same URL without its fragment have got.
    mutating func insist(on url: IconURL) {
        if requested(before: url) != nil { insisted.insert(url) }
    }

    /// Ends a user's request for an icon; returns whether there was one since the icon's last download.
    mutating func endInsistence(on url: IconURL) -> Bool { !insisted.isEmpty && insisted.remove(url) != nil }

    // MARK: Full requests

    /// Records that a user wants full requests of icons.
    ///
    /// Other icons may share their results.
    mutating func recordFullRequests(of urls: [IconURL], at now: Timestamp) {
        let plain = Set(urls.lazy.filter(\.hasFragment).map(\.withoutFragment))
        guard !plain.isEmpty || !isEmpty else { return }
        for url in urls { fullRequests[url] = plain.contains(url) || key(of: url) != nil ? now : nil }
    }

    /// Whether the full request of `url`, which is being sent, was ordered no earlier than the last one of `other`.
    func isFullRequest(of url: IconURL, after other: IconURL) -> Bool {
        fullRequests[url].map { isFullRequest(sentAt: $0, after: other) } ?? false
    }

    /// Whether a user has ordered no full request of an icon after this time.
    func isFullRequest(sentAt time: Timestamp, after url: IconURL) -> Bool {
        fullRequests[url].map { $0 <= time } ?? false
    }

    // MARK: Failures

    mutating func recordFailure(of url: IconURL) {
        if let key = key(of: url) { failed[key, default: []].insert(url) }
    }

    /// Records a failure for an icon and for the one that it was shared from.
    ///
    /// The other one may have been alone when it failed, and not recorded then.
    mutating func recordFailure(of url: IconURL, and other: IconURL) {
        recordFailure(of: url)
        recordFailure(of: other)
    }

    mutating func endFailure(of url: IconURL) {
        guard !failed.isEmpty, let key = key(of: url) else { return }
        failed[key]?.remove(url)
        if failed[key]?.isEmpty == true { failed[key] = nil }
    }

    /// The other icons with the same URL without its fragment whose last download failed.
    func failures(besides url: IconURL) -> Set<IconURL> {
        guard !failed.isEmpty, let key = key(of: url) else { return [] }
        return failed[key]?.subtracting([url]) ?? []
    }

    // MARK: Requests that wait

    /// Makes a request wait for the end of another icon's download; `isShared` tells whether it takes the result.
    mutating func wait(_ request: FetchRequest, for url: IconURL, isShared: Bool) {
        waiting[url, default: []].append(Waiting(request: request, isShared: isShared))
        awaited[request.url] = url
    }

    func isWaiting(_ url: IconURL) -> Bool { awaited[url] != nil }

    /// Ends the wait of an icon; returns whether it waited.
    mutating func endWait(of url: IconURL) -> Bool {
        guard let other = awaited.removeValue(forKey: url) else { return false }
        waiting[other]?.removeAll { $0.request.url == url }
        return true
    }

    /// Removes and returns the requests that wait for the end of an icon's download.
    mutating func endWaits(for url: IconURL) -> [Waiting] {
        guard let ended = waiting.removeValue(forKey: url) else { return [] }
        for entry in ended { awaited[entry.request.url] = nil }
        return ended
    }

    // MARK: Copies

    /// Records that an icon gets a copy of the image of another one.
    mutating func beginCopy(for url: IconURL, of other: IconURL) { copying[url] = other }

    /// Ends the download of an icon; returns the icon that its image was copied from, `nil` if it was requested.
    mutating func endCopy(for url: IconURL) -> IconURL? {
        copying.isEmpty ? nil : copying.removeValue(forKey: url)
    }
}
