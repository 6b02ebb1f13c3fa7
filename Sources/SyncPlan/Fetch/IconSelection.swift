// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The icons that a user wants requested now.
package struct IconSelection: Equatable, Sendable {
    package var urls: [IconURL]
    package var lists: [ListName]
    package var failed: Bool

    package init(urls: [IconURL] = [], lists: [ListName] = [], failed: Bool = false) {
        (self.urls, self.lists, self.failed) = (urls, lists, failed)
    }
}

/// The icons of a selection, which the agent's loop collects and other tasks iterate over.
package struct SelectedIcons: Sendable {
    var urls: [IconURL]
    /// Those of lists.
    var listed: [[IconURL]]
    /// The selected items that do not exist; `icons` is not counted yet.
    package var report: SelectionReport

    /// The distinct icons, in parts of at most `size` that are requested one after the other; O(*n*).
    package func parts(of size: Int) -> [[IconURL]] {
        precondition(size > 0, "a part has icons")
        var seen: Set<IconURL> = []
        let all = (urls + listed.joined()).filter { seen.insert($0).inserted }
        return stride(from: 0, to: all.count, by: size).map { Array(all[$0..<min($0 + size, all.count)]) }
    }
}

package struct SelectionReport: Codable, Equatable, Sendable {
    package var icons = 0
    package var unknown: [IconURL] = []
    package var missing: [ListName] = []

    package var json: JSON { .document(self) }
}
