// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

/// The icons that somebody wants to be requested now.
package struct IconSelection: Equatable, Sendable {
    package var urls: [IconURL]
    /// The lists whose icons they are.
    package var lists: [ListName]
    /// Whether every icon that failed is one of them.
    package var failed: Bool

    package init(urls: [IconURL] = [], lists: [ListName] = [], failed: Bool = false) {
        self.urls = urls
        self.lists = lists
        self.failed = failed
    }
}

/// The icons of a selection, as they are found in the agent's loop; to go through them is for others.
package struct SelectedIcons: Sendable {
    /// Icons that were selected by themselves.
    var urls: [IconURL]
    /// The entries of lists that were selected.
    var entries: [[AppEntry]]
    /// What was selected that there is not; nothing is counted yet.
    package var report: SelectionReport

    /// The icons, each once, in parts that are requested one after the other.
    ///
    /// - Parameter size: How many icons a part has at most.
    /// - Returns: No part if there are no icons.
    /// - Complexity: O(*n*) in the number of icons.
    package func parts(of size: Int) -> [[IconURL]] {
        precondition(size > 0, "a part has icons")
        var seen: Set<IconURL> = []
        let all = (urls + entries.joined().map(\.icon)).filter { seen.insert($0).inserted }
        return stride(from: 0, to: all.count, by: size).map { Array(all[$0..<min($0 + size, all.count)]) }
    }
}

/// What came of a selection.
package struct SelectionReport: Codable, Equatable, Sendable {
    /// How many icons are requested now.
    package var icons = 0
    /// URLs that nothing is known of.
    package var unknown: [IconURL] = []
    /// Lists that are not in the folder.
    package var missing: [ListName] = []

    /// The JSON document, with its keys in their order.
    package var json: JSON {
        [
            "format": 1, "icons": .number(icons), "unknown": .array(unknown.map(JSON.text)),
            "missing": .array(missing.map(JSON.text)),
        ]
    }
}
