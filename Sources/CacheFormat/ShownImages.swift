// SPDX-License-Identifier: Apache-2.0

/// The image that the `by-url/` name of each URL leads to, according to the documents of a generation.
///
/// The URL's own image takes precedence. If it has none, entries may show the last images of their apps: the first such
/// entry of the first list by name counts.
package struct ShownImages: Sendable {
    package struct Shown: Sendable {
        package var image: AppListDocument.Image
        /// Whether the image is the URL's own.
        package fileprivate(set) var isOwn: Bool
    }

    package private(set) var byURL: [IconURL: Shown] = [:]

    package init() {}

    /// Adds the next document; they must come in the order of their lists' names.
    package mutating func add(_ document: AppListDocument) {
        for app in document.apps {
            guard case .ready(let image) = app.state else { continue }
            let isOwn = app.previous == nil
            if let known = byURL[app.icon], known.isOwn || !isOwn { continue }
            byURL[app.icon] = Shown(image: image, isOwn: isOwn)
        }
    }
}
