// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A list or an icon whose failures a user knows: they no longer count for the status and for alerts.
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

/// Everything that is muted: the lists, then the URLs, each sorted.
package struct MuteReport: Codable, Equatable, Sendable {
    /// A muted URL or list; the other property is `nil`.
    package struct Mute: Codable, Equatable, Sendable {
        package var url: IconURL?
        package var list: ListName?
        /// When the mute ends; `nil` if only a command ends it.
        package var until: String?

        package init(_ target: MuteTarget, until: String?) {
            self.until = until
            if case .icon(let icon) = target { url = icon }
            if case .list(let name) = target { list = name }
        }
    }

    package var mutes: [Mute]
    /// The reason why the last change is not stored; `nil` if it is.
    package var error: String?

    package init(mutes: [Mute], error: String?) { (self.mutes, self.error) = (mutes, error) }

    package func names(_ target: MuteTarget) -> Bool {
        mutes.contains { $0 == Mute(target, until: $0.until) }
    }

    package var json: JSON { .document(self, lines: ["mutes"]) }
}
