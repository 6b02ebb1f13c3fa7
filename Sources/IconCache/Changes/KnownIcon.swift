// SPDX-License-Identifier: Apache-2.0

/// What a subscriber was told of one icon.
struct KnownIcon: Subscription {
    /// What one list document has for the icon; `nil` if it does not name it.
    private struct Finding {
        var sha256: Digest
        var state: AppListDocument.State?
    }

    private let url: IconURL
    /// By the lists' names.
    private var findings: [ListName: Finding] = [:]
    /// The state, if anything was told yet; `nil` stands for an icon that no list names.
    private var told: AppListDocument.State??

    init(_ url: IconURL) {
        self.url = url
    }

    mutating func advance(to snapshot: Snapshot) throws(IconCacheError) -> [AppListDocument.State?] {
        var newest: [ListName: Finding] = [:]
        for (name, list) in snapshot.manifest.lists {
            if let finding = findings[name], finding.sha256 == list.sha256 {
                newest[name] = finding
            } else {
                newest[name] = Finding(sha256: list.sha256, state: try snapshot.entry(forIcon: url, in: list)?.state)
            }
        }
        findings = newest
        let named = newest.filter { $0.value.state != nil }.min { $0.key < $1.key }
        return tell(named?.value.state)
    }

    mutating func advanceToNothing() -> [AppListDocument.State?] {
        told == nil ? tell(nil) : []
    }

    private mutating func tell(_ state: AppListDocument.State?) -> [AppListDocument.State?] {
        guard told != .some(state) else { return [] }
        told = .some(state)
        return [state]
    }
}
