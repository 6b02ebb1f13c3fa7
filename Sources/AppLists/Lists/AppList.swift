// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// An entry of an app list.
package struct AppEntry: Hashable, Sendable {
    /// The app's name; `nil` if the list gives none.
    package var name: String?
    /// What tells the app from others, however its icon's URL changes; `nil` if the list gives nothing.
    package var id: String?
    /// The icon's URL: as spelled in the list, or resolved against `lists.iconBaseURL`.
    package var icon: IconURL
    /// The list's `download` text; `nil` if the list gives none.
    package var download: String?
    /// The digest that the list gives for the image; `nil` if it gives none.
    package var expected: Digest? {
        get { if case .digest(let digest) = demand { digest } else { nil } }
        set { demand = newValue.map(Demand.digest) ?? .none }
    }

    /// Apart, because few lists give a digest, and there are very many entries.
    private indirect enum Demand: Hashable, Sendable {
        case none
        case digest(Digest)
    }

    private var demand: Demand

    package init(
        name: String? = nil, id: String? = nil, icon: IconURL, download: String? = nil, expected: Digest? = nil
    ) {
        self.name = name
        self.id = id
        self.icon = icon
        self.download = download
        demand = expected.map(Demand.digest) ?? .none
    }
}

/// The contents of an app list: its entries, and the problems of those that are unusable.
package struct AppList: Equatable, Sendable {
    /// The entries that have a usable icon URL, in the list's order.
    package var entries: [AppEntry]
    /// What was ignored, in the list's order: at most ``maxProblems`` problems, and one that counts the rest.
    package var problems: [EntryProblem]

    package init(entries: [AppEntry] = [], problems: [EntryProblem] = []) {
        self.entries = entries
        self.problems = problems
    }

    /// The limit on problems reported one by one.
    package static let maxProblems = 100
}

/// Something in an app list that was ignored; the rest of the list is used.
package struct EntryProblem: Equatable, Sendable, CustomStringConvertible {
    /// Where it is: `[3].icon`, `apps[3]`.
    package var keyPath: String
    /// What is wrong, as a clause: `not a string`.
    package var reason: String

    package init(keyPath: String, reason: String) {
        self.keyPath = keyPath
        self.reason = reason
    }

    /// Says how many problems there are beyond those that are listed.
    package static func more(_ count: Int) -> EntryProblem {
        EntryProblem(keyPath: "…", reason: counted(count, "more problem"))
    }

    package var description: String { "\(keyPath): \(reason)" }
}

/// The limits on a property list, and where its icons are found.
package struct ListLimits: Equatable, Sendable {
    /// The largest file accepted.
    ///
    /// The default is 8 MiB.
    package var maxBytes: ByteCount
    /// The most entries accepted.
    ///
    /// The default is 50,000.
    package var maxEntries: Int
    /// The keys that can have an entry's icon URL, in this order; `icon` always comes first.
    package var iconKeys: [String]
    /// The keys that can have what tells an app from others, in this order.
    package var identityKeys: [String]
    /// The folder that relative icon names are resolved against; `nil` by default.
    package var iconBase: IconBase?

    package init(
        maxBytes: ByteCount = .mebibytes(8), maxEntries: Int = 50_000,
        iconKeys: [String] = ["icon", "icon_url", "iconURL", "iconUrl", "artwork"],
        identityKeys: [String] = ["id", "identifier", "bundleIdentifier", "bundle_id", "appid"],
        iconBase: IconBase? = nil
    ) {
        self.maxBytes = maxBytes
        self.maxEntries = maxEntries
        self.iconKeys = iconKeys
        self.identityKeys = identityKeys
        self.iconBase = iconBase
    }

    /// The limit on the total size of a list's texts, and of the records of them.
    ///
    /// It is twice ``maxBytes``, but at least 1 MiB, and at most ``ParseRecord/maxBytes``: a binary property list can
    /// refer to one text many times.
    package var maxText: ByteCount {
        min(max(ByteCount(2 * maxBytes.bytes), .mebibytes(1)), ParseRecord.maxBytes)
    }

    /// The limit on the nesting of arrays and dictionaries.
    package static let maxDepth = 32
}
