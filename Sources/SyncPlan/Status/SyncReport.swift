// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// How far the icons of some lists are, as `syncagent sync` tells it.
package struct SyncReport: Codable, Equatable, Sendable {
    /// A list that is not accepted as it is now.
    package struct Rejection: Codable, Equatable, Sendable {
        package var list: String
        /// What is wrong with it.
        package var message: String
    }

    /// Lists that were asked for, and are not in the folder.
    package var missing: [String] = []
    /// Every list that is not accepted, sorted by name.
    package var rejected: [Rejection] = []
    package var ready = 0
    package var pending = 0
    package var failed = 0
    /// Whether nothing more comes for now: everything is published, or has failed, or waits for something else.
    package var isDone = false
    /// Why it is not published.
    package var error: String?

    package init(missing: [String] = []) {
        self.missing = missing
    }

    /// Whether all is ready and durable.
    package var isWhole: Bool {
        isDone && missing.isEmpty && rejected.isEmpty && pending == 0 && failed == 0 && error == nil
    }

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        [
            "format": 1, "missing": .array(missing.map(JSON.string)), "rejected": .array(rejected.map(\.json)),
            "ready": .number(ready), "pending": .number(pending), "failed": .number(failed), "isDone": .bool(isDone),
            "error": .string(orNull: error),
        ]
    }
}

extension SyncReport.Rejection {
    fileprivate var json: JSON { ["list": .string(list), "message": .string(message)] }
}

extension Reconciler {
    /// How far the icons of some lists are.
    ///
    /// - Parameter names: The lists; all, if none is named.
    /// - Returns: Each icon once, however many of the lists name it.
    /// - Complexity: O(*n*) in the number of their entries.
    package func syncReport(of names: [String]) -> SyncReport {
        var report = SyncReport(missing: names.filter { catalog.lists[$0] == nil })
        let lists = names.isEmpty ? Array(catalog.lists.keys) : names.filter { catalog.lists[$0] != nil }
        var isOnItsWay = false
        for url in Set(lists.lazy.flatMap { catalog.lists[$0]?.entries ?? [] }.map(\.icon)) {
            guard let icon = catalog.icons[url] else { continue }
            switch icon.state {
            case .ready: report.ready += 1
            case .pending: report.pending += 1
            case .failed: report.failed += 1
            }
            isOnItsWay = isOnItsWay || icon.staged != nil || isUnderWay(url, icon)
        }
        report.rejected = Set(lists).sorted().compactMap { name in
            catalog.lists[name]?.rejection.map { SyncReport.Rejection(list: name, message: $0.message) }
        }
        report.error = unavailable ?? publicationFailure
        let isPublished = publishing == nil && dirtyLists.isDisjoint(with: lists) && window.due(during: .none) == nil
        report.isDone =
            hasScanned && (unavailable != nil || publicationFailure != nil || (!isOnItsWay && isPublished))
        return report
    }

    /// The icons of some lists; of all, if none is named.
    package func urls(of names: [String]) -> [String] {
        names.isEmpty
            ? Array(catalog.icons.filter(\.value.isReferenced).keys)
            : names.flatMap { catalog.lists[$0]?.entries.map(\.icon) ?? [] }
    }

    /// Whether an icon's state may change by what is being done now.
    package func isComing(_ url: String) -> Bool {
        catalog.icons[url].map { $0.staged != nil || isUnderWay(url, $0) } ?? false
    }

    /// Whether an image may come of what is being done now.
    private func isUnderWay(_ url: String, _ icon: IconRecord) -> Bool {
        switch icon.phase {
        case .idle, .crowdedOut: false
        case .queued: mayDownload && !queue.isHeld(url)
        case .fetching: true
        }
    }
}
