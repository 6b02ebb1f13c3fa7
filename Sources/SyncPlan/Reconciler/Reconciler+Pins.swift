// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import WebAddresses

/// Pinned URLs are one more list, which is in no folder: the newest manifest is where they are kept.
extension Reconciler {
    /// The name of that list, which no file can have.
    package static let pinList: ListName = "pins"

    /// The pinned URLs, in the order in which they were pinned.
    package var pins: [IconURL] { catalog.lists[Self.pinList]?.entries.map(\.icon) ?? [] }

    /// Whether the newest manifest has the pins as they are.
    package var arePinsPublished: Bool {
        hasScanned && !window.isChanged(Self.pinList)
            && publishing?.publication.documents.contains { $0.list == Self.pinList } != true
            && (manifest?.lists[Self.pinList] == nil) == pins.isEmpty
    }

    /// What keeps a URL from being pinned, as a clause; `nil` if nothing does.
    ///
    /// Whether it can be fetched with these settings is not asked here: that may change.
    package static func flaw(inPin url: IconURL) -> String? {
        if let flaw = AppEntry.flaw(inIcon: url.text) { return flaw.description }
        do {
            _ = try IconSource(url)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The same with what is pinned already: there are no more pins than a list may have entries.
    package func flaw(inPin url: IconURL) -> String? {
        let (pins, limit) = (pins, settings.lists.maxEntries)
        guard pins.count < limit || pins.contains(url) else {
            return "\(limit) icons are pinned, and lists.maxEntries allows no more"
        }
        return Self.flaw(inPin: url)
    }

    mutating func pin(_ url: IconURL, _ isPinned: Bool, now: Timestamp, to actions: inout [Action]) {
        guard pins.contains(url) != isPinned else { return }
        let urls = isPinned ? pins + [url] : pins.filter { $0 != url }
        let diff: IconDiff
        if urls.isEmpty {
            diff = catalog.removeList(Self.pinList)
            forgetChanges(of: Self.pinList)
            window.noteChange(at: now)
        } else {
            let text = urls.map(\.text).joined(separator: "\n")
            let source = AppListDocument.Source(
                sha256: .of(text), bytes: text.utf8.count, modified: now.inWholeSeconds)
            diff = catalog.setList(
                Self.pinList,
                ListRecord(
                    state: .ok, source: source, entries: urls.map { AppEntry(icon: $0) },
                    published: catalog.lists[Self.pinList]?.published))
            readmit(Self.pinList)
            markDirty(Self.pinList, now: now)
            if !isPinned { rewrittenLists.insert(Self.pinList) }
        }
        take(diff, now: now, to: &actions)
    }
}
