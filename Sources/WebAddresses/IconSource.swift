// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Where an icon's image comes from, as its URL says.
package enum IconSource: Hashable, Sendable {
    case server(FetchTarget)
    case inline(DataURL)

    /// Reads the URL of a list.
    ///
    /// - Throws: ``URLRefusal``
    package init(_ url: IconURL) throws(URLRefusal) {
        if let data = DataURL(url.text) {
            self = .inline(data)
        } else {
            self = .server(try FetchTarget(url.text))
        }
    }

    /// What shares one queue of requests: the scheme, host and port of a server, and all images that need none.
    package var origin: String {
        switch self {
        case .server(let target): target.origin
        case .inline: "data:"
        }
    }
}
