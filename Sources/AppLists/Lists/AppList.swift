// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package struct AppEntry: Hashable, Sendable {
    package var name: String?
    /// What identifies the app when its icon URL changes; `nil` if the list gives nothing.
    package var id: String?
    /// The icon's URL, as spelled in the list or resolved against `lists.iconBaseURL`.
    package var icon: IconURL
    package var download: String?
    /// The digest that the list gives for the image.
    package var expected: Digest?

    package init(
        name: String? = nil, id: String? = nil, icon: IconURL, download: String? = nil, expected: Digest? = nil
    ) {
        self.name = name
        self.id = id
        self.icon = icon
        self.download = download
        self.expected = expected
    }
}

package struct AppList: Equatable, Sendable {
    /// The entries with a usable icon URL, in the list's order.
    package var entries: [AppEntry]
    /// The entries without a usable icon URL: a known app keeps its last icon (`keepingIcons(of:strays:)`).
    package var unusable: [UnusableEntry] = []
    /// The indices of those in ``entries`` that keep the last icon of an unusable entry's app, in order.
    package var kept: [Int] = []
    /// What was ignored, in the list's order: at most ``maxProblems`` problems, then one that counts the rest.
    package var problems: [EntryProblem]
    /// All images in the folder `lists.iconBaseURL`, as ``IconBase/url(ofFile:)`` spells them, if the file names those in
    /// place of apps, as Munki's `_icon_hashes.plist` does.
    package var images: Set<IconURL>?

    package init(entries: [AppEntry] = [], problems: [EntryProblem] = [], images: Set<IconURL>? = nil) {
        self.entries = entries
        self.problems = problems
        self.images = images
    }

    package static let maxProblems = 100

    /// Words that programs write for a missing value, in lower case.
    package static let blanks: Set<IconURL> = ["0", "null", "(null)", "nil", "none", "undefined", "false", "n/a", "-"]
}

/// An entry of an app list without a usable icon URL.
package struct UnusableEntry: Equatable, Sendable {
    /// How many usable entries precede it.
    package var index: Int
    package var name: String?
    package var id: String?
    /// The key path of its problem.
    package var keyPath: String

    package init(index: Int, name: String?, id: String?, keyPath: String) {
        self.index = index
        self.name = name
        self.id = id
        self.keyPath = keyPath
    }

    /// Whether nothing tells which app it is.
    package var isNameless: Bool { (name ?? "").isEmpty && id == nil }
}

/// Something in an app list that was ignored; the rest of the list is used.
package struct EntryProblem: Equatable, Sendable, CustomStringConvertible {
    /// The key path: `[3].icon`, `apps[3]`.
    package var keyPath: String
    /// A clause: `not a string`.
    package var reason: String

    package init(keyPath: String, reason: String) {
        self.keyPath = keyPath
        self.reason = reason
    }

    /// Counts the problems beyond ``AppList/maxProblems``.
    package static func more(_ count: Int) -> EntryProblem {
        EntryProblem(keyPath: "…", reason: counted(count, "more problem"))
    }

    package var description: String { "\(keyPath): \(reason)" }
}

/// The limits on a property list, and the keys that are read.
package struct ListLimits: Equatable, Sendable {
    /// The largest file accepted; 8 MiB by default.
    package var maxBytes: ByteCount
    /// The most entries accepted; 50,000 by default.
    package var maxEntries: Int
    /// The keys searched for an entry's icon URL, in order; `icon` always comes first.
    package var iconKeys: [String]
    /// The keys searched for what identifies an app, in order.
    package var identityKeys: [String]
    /// The base of relative icon names; `nil` by default.
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

    /// The key of identities in the lists that the agent writes for those taken over from upstreams.
    package static let adoptedIdentityKey = "syncagent-identity"
    /// The largest file of a list that was taken over: the agent's form of a list is longer than the upstream's file.
    package static let maxAdoptedBytes = ParseRecord.maxBytes
    /// The most entries in all lists that are taken over from an upstream.
    package static let maxAdoptedEntries = 500_000

    /// The limits on lists taken over from upstreams: their documents were limited, and their keys are the agent's own.
    ///
    /// Files of earlier versions have identities under the first key of `lists.identityKeys`.
    package var ofAdopted: ListLimits {
        var limits = self
        (limits.maxBytes, limits.maxEntries) = (Self.maxAdoptedBytes, Self.maxAdoptedEntries)
        limits.identityKeys.removeAll { ["icon", "name", "download"].contains($0) }
        limits.identityKeys.insert(Self.adoptedIdentityKey, at: 0)
        return limits
    }

    /// The limit on the total size of a list's texts, and of their records.
    ///
    /// It is twice ``maxBytes``, at least 1 MiB and at most ``ParseRecord/maxBytes``: a binary property list can refer
    /// to one text many times.
    package var maxText: ByteCount {
        min(max(ByteCount(2 * maxBytes.bytes), .mebibytes(1)), ParseRecord.maxBytes)
    }

    /// The limit on nested arrays and dictionaries.
    package static let maxDepth = 32
}
