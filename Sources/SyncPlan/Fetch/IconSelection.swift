// SPDX-License-Identifier: Apache-2.0
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
