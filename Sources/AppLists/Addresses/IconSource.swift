// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package enum IconSource: Hashable, Sendable {
    case server(FetchTarget)
    case inline(DataURL)

    package init(_ url: IconURL) throws(URLRefusal) {
        if let data = DataURL(url.text) {
            self = .inline(data)
        } else {
            self = .server(try FetchTarget(url.text))
        }
    }

    /// The key of the request queue: scheme, host and port of a server, or `data:` for all inline images.
    package var origin: String {
        switch self {
        case .server(let target): target.origin
        case .inline: "data:"
        }
    }
}
