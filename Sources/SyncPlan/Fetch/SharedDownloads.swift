// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The downloads of icons whose URLs differ in their fragment alone: no request has a fragment (RFC 9110, section 7.1).
struct SharedDownloads: Sendable {
    /// By URL without its fragment, the icon that was requested last.
    private var requested: [IconURL: IconURL] = [:]
    /// A request that waits for the end of another icon's download.
    struct Waiting: Sendable {
        var request: FetchRequest
        /// Whether the icon takes the result of that download, and is not just requested after it.
        var isShared: Bool
    }

    /// By the URL of the icon whose download they wait for.
    private var waiting: [IconURL: [Waiting]] = [:]
    /// The icon whose download each of them waits for.
    private var awaited: [IconURL: IconURL] = [:]
    /// The icons that get a copy of an image, with the icon that it was downloaded for.
    private var copying: [IconURL: IconURL] = [:]
    /// The icons that a user wants to be requested.
    private var insisted: Set<IconURL> = []
    /// When a user last asked for a full request of an icon.
    private var fullRequests: [IconURL: Timestamp] = [:]
    /// The icons whose last download failed, by URL without its fragment.
    private var failed: [IconURL: Set<IconURL>] = [:]

    /// Whether no icon has anything to do with others.
    var isEmpty: Bool { requested.isEmpty && waiting.isEmpty && failed.isEmpty }

    /// The URL without its fragment if others differ in that from it, or may; `nil` for most.
    private func key(of url: IconURL) -> IconURL? {
        guard !url.hasFragment else { return url.withoutFragment }
        let isKnown = !requested.isEmpty && requested[url] != nil || !failed.isEmpty && failed[url] != nil
        return isKnown ? url : nil
    }

    /// The icon that was requested last for the same URL without its fragment; `nil` if it is the same icon, or none is.
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

    /// Records that a user wants an icon to be requested, whatever others have.
    mutating func insist(on url: IconURL) {
        if requested(before: url) != nil { insisted.insert(url) }
    }

    /// Whether a user wanted it to be requested since its last download.
    mutating func endInsistence(on url: IconURL) -> Bool { !insisted.isEmpty && insisted.remove(url) != nil }

    // MARK: Full requests

    /// Records that a user wants full requests of icons, which others may share.
    mutating func recordFullRequests(of urls: [IconURL], at now: Timestamp) {
        let plain = Set(urls.lazy.filter(\.hasFragment).map(\.withoutFragment))
        guard !plain.isEmpty || !isEmpty else { return }
        for url in urls { fullRequests[url] = plain.contains(url) || key(of: url) != nil ? now : nil }
    }

    /// Whether the full request of one icon, which is sent, was asked for no earlier than that of another.
    func isFullRequest(of url: IconURL, after other: IconURL) -> Bool {
        fullRequests[url].map { isFullRequest(sentAt: $0, after: other) } ?? false
    }

    /// Whether a user has asked for nothing more of an icon since then.
    func isFullRequest(sentAt time: Timestamp, after url: IconURL) -> Bool {
        fullRequests[url].map { $0 <= time } ?? false
    }

    // MARK: Failures

    mutating func recordFailure(of url: IconURL) {
        if let key = key(of: url) { failed[key, default: []].insert(url) }
    }

    /// Records a failure that an icon has from another one, whose own may not be recorded: it may have been alone then.
    mutating func recordFailure(of url: IconURL, and other: IconURL) {
        recordFailure(of: url)
        recordFailure(of: other)
    }

    mutating func endFailure(of url: IconURL) {
        guard !failed.isEmpty, let key = key(of: url) else { return }
        failed[key]?.remove(url)
        if failed[key]?.isEmpty == true { failed[key] = nil }
    }

    /// The others whose last download failed.
    func failures(besides url: IconURL) -> Set<IconURL> {
        guard !failed.isEmpty, let key = key(of: url) else { return [] }
        return failed[key]?.subtracting([url]) ?? []
    }

    // MARK: Requests that wait

    /// Lets a request wait for the end of another icon's download, whose result it shares or not.
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

    /// Ends the download of an icon; returns the icon whose image was copied, `nil` if it was a request.
    mutating func endCopy(for url: IconURL) -> IconURL? {
        copying.isEmpty ? nil : copying.removeValue(forKey: url)
    }
}
