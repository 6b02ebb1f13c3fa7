// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
import Reports

/// An app list: its last good version, and the state of its current file.
struct ListRecord: Sendable {
    enum State: Equatable, Sendable {
        case ok
        /// The current file is rejected; an older version stays in force.
        case lastGood(ListRejection)
        /// The current file is rejected, and no version was ever accepted.
        case rejected(ListRejection)
    }

    var state: State
    /// Of the last good version.
    var source: AppListDocument.Source?
    /// The ``Catalog`` sets them.
    var apps = Apps()
    /// Ignored entries of the last good version.
    var problems: [EntryProblem] = []
    /// How many ignored entries of that version have neither name nor identity, and keep the icon of no app.
    ///
    /// A restart forgets it, until the file is read again.
    var strays = 0
    /// The apps of ignored entries that keep their last icon, if the file itself was read.
    var kept: StatusReport.List.Kept?
    /// The images that the file names, if it names images and no apps; then it is not published.
    var images: Set<IconURL>?
    /// Whether the file itself was read by the current rules, not only its document.
    var isRead = false
    /// Its entry in the newest manifest; `nil` if the manifest does not name it.
    var published: Manifest.List?

    /// The icon of each entry.
    var icons: [IconID] { apps.icons }

    var hasGoodVersion: Bool { source != nil || images != nil }

    /// The digest of the last good version's file, if its document contains everything in it.
    var known: Digest? { isRead && problems.isEmpty ? source?.sha256 : nil }

    var rejection: ListRejection? {
        switch state {
        case .ok: nil
        case .lastGood(let rejection), .rejected(let rejection): rejection
        }
    }
}

/// A version of a list whose content is known.
package struct KnownList: Sendable {
    /// The digest of the file.
    package let sha256: Digest
    private let entries: @Sendable () -> AppEntries

    /// The entries are made on access: they may be those of all lists.
    package init(sha256: Digest, entries: @autoclosure @escaping @Sendable () -> AppEntries) {
        (self.sha256, self.entries) = (sha256, entries)
    }

    package var list: AppList { AppList(entries: Array(entries())) }
}

extension KnownList: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.sha256 == b.sha256 && a.entries() == b.entries() }
}
