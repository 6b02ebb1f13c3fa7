// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Reports

/// An app list: its last good version, and the state of its current file.
package struct ListRecord: Sendable {
    package enum State: Equatable, Sendable {
        case ok
        /// The current file is rejected; an older version stays in force.
        case lastGood(ListRejection)
        /// The current file is rejected, and no version was ever accepted.
        case rejected(ListRejection)
    }

    package var state: State
    /// The source of the last good version.
    package var source: AppListDocument.Source?
    package var apps = Apps()
    /// The icon of each entry; the ``Catalog`` sets them.
    var icons: [IconID] = []
    /// Ignored entries of the last good version.
    package var problems: [EntryProblem] = []
    /// How many ignored entries of that version have neither name nor identity, and keep the icon of no app.
    ///
    /// A restart forgets the number, until the file is read again.
    package var strays = 0
    /// The apps of ignored entries that keep their last icon, if the file itself was read.
    package var kept: StatusReport.List.Kept?
    /// The images that the file names, if it names images and no apps; then it is not published.
    package var images: Set<IconURL>?
    /// Whether the file itself was read by the current rules, not only its document.
    package var isRead = false
    /// The list's entry in the newest manifest; `nil` if the manifest does not name the list.
    package var published: Manifest.List?

    package var entries: AppEntries { apps.entries }

    var hasGoodVersion: Bool { source != nil || images != nil }

    /// The last good version, if its document contains everything in its file.
    var known: KnownList? {
        guard isRead, problems.isEmpty, let source else { return nil }
        return KnownList(sha256: source.sha256, entries: entries)
    }

    package var rejection: ListRejection? {
        switch state {
        case .ok: nil
        case .lastGood(let rejection), .rejected(let rejection): rejection
        }
    }
}

/// A version of a list whose content is known.
package struct KnownList: Equatable, Sendable {
    /// The digest of the file.
    package var sha256: Digest
    package var entries: AppEntries

    package init(sha256: Digest, entries: AppEntries) {
        self.sha256 = sha256
        self.entries = entries
    }

    package var list: AppList { AppList(entries: Array(entries)) }
}
