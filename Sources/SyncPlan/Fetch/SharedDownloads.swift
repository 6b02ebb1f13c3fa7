// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The downloads of icons whose URLs differ in their fragment alone: no request has a fragment (RFC 9110, section 7.1).
struct SharedDownloads: Sendable {
    /// By URL without its fragment, the icon that was requested last.
    private var requested: [IconURL: IconURL] = [:]
    /// The requests that wait for the end of another icon's download, by its URL.
    private var waiting: [IconURL: [FetchRequest]] = [:]
    /// The icon whose download each of them waits for.
    private var awaited: [IconURL: IconURL] = [:]
    /// The icons that take an image which is there, with the icon that it was downloaded for.
    private var taking: [IconURL: IconURL] = [:]

    /// The icon that was requested last for the same URL without its fragment; `nil` if it is the same icon, or none is.
    func requested(before url: IconURL) -> IconURL? {
        let text = url.withoutFragment
        guard text != nil || !requested.isEmpty else { return nil }
        let key = text ?? url
        let last = requested[key] ?? key
        return last == url ? nil : last
    }

    /// Records that an icon is requested from its server, or has an image.
    mutating func record(_ url: IconURL) {
        if let key = url.withoutFragment {
            requested[key] = url
        } else if !requested.isEmpty, requested[url] != nil {
            // One without a fragment has an entry only if others have one.
            requested[url] = url
        }
    }

    /// Forgets an icon that no list names any more.
    mutating func forget(_ url: IconURL) {
        guard !requested.isEmpty, case let key = url.withoutFragment ?? url, requested[key] == url else { return }
        requested[key] = nil
    }

    // MARK: Requests that wait

    /// Lets a request wait for the end of another icon's download.
    mutating func wait(_ request: FetchRequest, for url: IconURL) {
        waiting[url, default: []].append(request)
        awaited[request.url] = url
    }

    func isWaiting(_ url: IconURL) -> Bool { awaited[url] != nil }

    /// Ends the wait of an icon; returns whether it waited.
    mutating func endWait(of url: IconURL) -> Bool {
        guard let other = awaited.removeValue(forKey: url) else { return false }
        waiting[other]?.removeAll { $0.url == url }
        return true
    }

    /// Removes and returns the requests that wait for the end of an icon's download.
    mutating func endWaits(for url: IconURL) -> [FetchRequest] {
        guard let requests = waiting.removeValue(forKey: url) else { return [] }
        for request in requests { awaited[request.url] = nil }
        return requests
    }

    // MARK: Images that are there

    mutating func take(_ url: IconURL, from other: IconURL) { taking[url] = other }

    /// Ends the download of an icon; returns the icon whose image it took, `nil` if it was a request.
    mutating func endTaking(_ url: IconURL) -> IconURL? {
        taking.isEmpty ? nil : taking.removeValue(forKey: url)
    }
}

extension IconURL {
    /// The URL without its fragment; `nil` if it has none.
    fileprivate var withoutFragment: IconURL? {
        guard text.utf8.contains(UInt8(ascii: "#")) else { return nil }
        return IconURL(String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "#") })))
    }
}
