// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The way that a download took: the URL itself, and every one that a redirect led to.
package struct FetchTrail: Hashable, Sendable {
    /// A URL on the way, and what became of the request for it.
    package struct Hop: Codable, Hashable, Sendable {
        /// The URL, as logs show it.
        package var url: String
        /// The status of the answer; `nil` if none came, or nothing was asked.
        package var status: Int?
        /// The setting without which its address would have been refused.
        package var allowedBy: String?
        /// The proxy that was asked, with its port.
        package var proxy: String?

        package init(_ target: FetchTarget, through proxy: Proxy? = nil) {
            url = Self.text(LogURL(target.url))
            self.proxy = proxy.map { "\($0)" }
        }

        package init(url: String, status: Int?, allowedBy: String?, proxy: String?) {
            self.url = url
            self.status = status
            self.allowedBy = allowedBy
            self.proxy = proxy
        }

        /// A URL as a hop tells it: servers choose how long those are that they redirect to.
        fileprivate static func text(_ url: LogURL) -> String {
            let text = url.description
            return text.utf8.count <= 256 ? text : text.prefix(bytes: 256)
        }
    }

    package var hops: [Hop]

    /// - Returns: `nil` if the way was straight: one URL, asked directly, at a public address.
    package init?(_ hops: [Hop]) {
        guard hops.count > 1 || hops.contains(where: { $0.allowedBy != nil || $0.proxy != nil }) else { return nil }
        self.hops = hops
    }

    /// The trail without the icon's own URL, so that those of most icons are equal.
    package func leavingOut(_ url: IconURL) -> FetchTrail {
        replacing(Hop.text(LogURL(url)), by: "")
    }

    /// The trail with the icon's own URL where that was left out.
    package func puttingIn(_ url: IconURL) -> FetchTrail {
        replacing("", by: Hop.text(LogURL(url)))
    }

    private func replacing(_ url: String, by other: String) -> FetchTrail {
        var trail = self
        for index in hops.indices where hops[index].url == url { trail.hops[index].url = other }
        return trail
    }
}
