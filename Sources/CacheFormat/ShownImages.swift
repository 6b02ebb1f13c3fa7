// SPDX-License-Identifier: Apache-2.0

/// The image that is shown for each URL, which its `by-url/` name leads to, as the documents of a generation tell.
///
/// The URL's own image counts. Where it has none, entries may show the last images of their apps: then the first entry of
/// the first list by name counts.
package struct ShownImages: Sendable {
    package struct Shown: Sendable {
        package var image: AppListDocument.Image
        /// Whether it is that of the URL.
        package fileprivate(set) var isOwn: Bool
    }

    package private(set) var byURL: [IconURL: Shown] = [:]

    package init() {}

    /// Takes in the next document; they come in the order of their lists' names.
    package mutating func add(_ document: AppListDocument) {
        for app in document.apps {
            guard case .ready(let image) = app.state else { continue }
            let isOwn = app.previous == nil
            if let known = byURL[app.icon], known.isOwn || !isOwn { continue }
            byURL[app.icon] = Shown(image: image, isOwn: isOwn)
        }
    }
}
