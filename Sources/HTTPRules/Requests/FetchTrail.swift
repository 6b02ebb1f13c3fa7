// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The URLs that a download passed through: the icon's own, and every redirect target.
package struct FetchTrail: Hashable, Sendable {
    package struct Hop: Codable, Hashable, Sendable {
        package var url: String
        /// The status; `nil` if there was no response.
        package var status: Int?
        /// The setting without which the address would have been refused.
        package var allowedBy: String?
        package var proxy: String?
        /// The credential that was sent, without its secret.
        package var credential: String?

        package init(_ target: FetchTarget, through proxy: Proxy? = nil) {
            url = Self.text(LogURL(target.url))
            self.proxy = proxy.map { "\($0)" }
        }

        package init(url: String, status: Int?, allowedBy: String?, proxy: String?, credential: String? = nil) {
            (self.url, self.status, self.allowedBy) = (url, status, allowedBy)
            (self.proxy, self.credential) = (proxy, credential)
        }

        package func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(url, forKey: .url)
            try members.encode(status, forKey: .status)
            try members.encode(allowedBy, forKey: .allowedBy)
            try members.encode(proxy, forKey: .proxy)
            // Earlier versions, which may read the trail from the database, accept no unknown members.
            if let credential { try members.encode(credential, forKey: .credential) }
        }

        /// Whether the hop is more than a request to a public address.
        fileprivate var isSpecial: Bool { allowedBy != nil || proxy != nil || credential != nil }

        /// A URL's text, limited to 256 bytes: servers choose the length of redirect targets.
        fileprivate static func text(_ url: LogURL) -> String {
            let text = url.description
            return text.utf8.count <= 256 ? text : text.prefix(bytes: 256)
        }
    }

    package var hops: [Hop]

    /// Fails if the download was direct: one URL, without a proxy or credential, at a public address.
    package init?(_ hops: [Hop]) {
        guard hops.count > 1 || hops.contains(where: \.isSpecial) else { return nil }
        self.hops = hops
    }

    /// Removes the icon's own URL, so that the trails of most icons are equal.
    package func leavingOut(_ url: IconURL) -> FetchTrail {
        replacing(Hop.text(LogURL(url)), by: "")
    }

    package func puttingIn(_ url: IconURL) -> FetchTrail {
        replacing("", by: Hop.text(LogURL(url)))
    }

    private func replacing(_ url: String, by other: String) -> FetchTrail {
        var trail = self
        for index in hops.indices where hops[index].url == url { trail.hops[index].url = other }
        return trail
    }
}
