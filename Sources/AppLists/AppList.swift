// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// One entry of an app list.
package struct AppEntry: Hashable, Sendable {
    /// The app's name, if the list gives one.
    package var name: String?
    /// The icon's URL: spelled as in the list, or made of a name in the list and `lists.iconBaseURL`.
    package var icon: IconURL
    /// The list's `download` text, if it has one.
    package var download: String?
    /// The digest that the list gives for the image, if it gives one.
    package var expected: Digest?

    package init(name: String? = nil, icon: IconURL, download: String? = nil, expected: Digest? = nil) {
        self.name = name
        self.icon = icon
        self.download = download
        self.expected = expected
    }
}

/// What a property list says: its apps, and what is wrong with some of them.
package struct AppList: Equatable, Sendable {
    /// The entries that have a usable icon URL, in the list's order.
    package var entries: [AppEntry]
    /// What was passed over, in the list's order; at most ``maxProblems`` of them and one that counts the rest.
    package var problems: [EntryProblem]

    package init(entries: [AppEntry] = [], problems: [EntryProblem] = []) {
        self.entries = entries
        self.problems = problems
    }

    /// The most problems reported one by one.
    package static let maxProblems = 100
}

/// Something in an app list that was passed over, while the rest of the list counts.
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

/// How much of a property list is read, and where its icons are looked for.
package struct ListLimits: Equatable, Sendable {
    /// The largest file accepted.
    ///
    /// The default is 8 MiB.
    package var maxBytes: ByteCount
    /// The most entries accepted.
    ///
    /// The default is 50,000.
    package var maxEntries: Int
    /// The keys under which an entry's icon URL is looked for after `icon`, in this order.
    package var iconKeys: [String]
    /// The folder of icons that are given by a relative name.
    package var iconBase: IconBase?

    package init(
        maxBytes: ByteCount = .mebibytes(8), maxEntries: Int = 50_000,
        iconKeys: [String] = ["icon", "icon_url", "iconURL", "iconUrl", "artwork"], iconBase: IconBase? = nil
    ) {
        self.maxBytes = maxBytes
        self.maxEntries = maxEntries
        self.iconKeys = iconKeys
        self.iconBase = iconBase
    }

    /// The most that a list's texts, and the records of them, may come to.
    ///
    /// It is twice as much as a file can say that says nothing twice. A binary property list can do so.
    package var maxText: ByteCount {
        min(max(ByteCount(2 * maxBytes.bytes), .mebibytes(1)), ParseRecord.maxBytes)
    }

    /// The most arrays and dictionaries inside one another.
    package static let maxDepth = 32
}
