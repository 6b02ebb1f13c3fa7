// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What a user mutes: its failures are known, and no longer count for the status and for alerts.
package enum MuteTarget: Codable, Comparable, Hashable, Sendable {
    /// The rejection of a list, and the failures of icons that only muted lists name.
    case list(ListName)
    /// The failures of an icon, whether or not a list names it.
    case icon(IconURL)

    package var text: String {
        switch self {
        case .list(let name): name.text
        case .icon(let url): url.text
        }
    }
}

/// All that is muted: the lists, then the URLs, each sorted.
package struct MuteReport: Codable, Equatable, Sendable {
    /// A URL or a list; the other one is `nil`.
    package struct Mute: Codable, Equatable, Sendable {
        package var url: IconURL?
        package var list: ListName?
        /// When it ends by itself; `nil` if it does not.
        package var until: String?

        package init(_ target: MuteTarget, until: String?) {
            self.until = until
            if case .icon(let icon) = target { url = icon }
            if case .list(let name) = target { list = name }
        }
    }

    package var mutes: [Mute]
    /// Why the last change is not stored; `nil` if it is.
    package var error: String?

    package init(mutes: [Mute], error: String?) { (self.mutes, self.error) = (mutes, error) }

    package func names(_ target: MuteTarget) -> Bool {
        mutes.contains { $0 == Mute(target, until: $0.until) }
    }

    package var json: JSON { .document(self, lines: ["mutes"]) }
}
