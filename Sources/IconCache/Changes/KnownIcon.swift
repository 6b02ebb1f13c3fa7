// SPDX-License-Identifier: Apache-2.0

/// The knowledge of a subscriber to one icon.
struct KnownIcon: Subscription {
    /// The icon in one list document; its entry is `nil` if the document does not name it.
    private struct Finding {
        var sha256: Digest
        var entry: AppListDocument.App?
    }

    private let url: IconURL
    private var findings: [ListName: Finding] = [:]
    /// The last state delivered: `.some(nil)` if no list names the icon, `nil` if nothing was delivered yet.
    private var delivered: AppListDocument.State??

    init(_ url: IconURL) {
        self.url = url
    }

    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [AppListDocument.State?] {
        var newest: [ListName: Finding] = [:]
        for (name, list) in snapshot.manifest.lists {
            if let finding = findings[name], finding.sha256 == list.sha256 {
                newest[name] = finding
            } else {
                newest[name] = Finding(sha256: list.sha256, entry: try snapshot.entry(forIcon: url, in: list))
            }
        }
        findings = newest
        var best: AppListDocument.App?
        for (_, finding) in newest.sorted(by: { $0.key < $1.key }) {
            if let entry = finding.entry, entry.rank > best?.rank ?? 0 { best = entry }
        }
        return deliver(best?.state)
    }

    mutating func advanceToNothing() -> [AppListDocument.State?] {
        delivered == nil ? deliver(nil) : []
    }

    private mutating func deliver(_ state: AppListDocument.State?) -> [AppListDocument.State?] {
        guard delivered != .some(state) else { return [] }
        delivered = .some(state)
        return [state]
    }
}
