// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// An app of a list.
struct App: Sendable {
    let entry: AppEntry
    /// The image that it shows while its icon has none; `nil` if it shows its icon's image, or no image.
    let last: LastImage?

    /// An image that it showed.
    struct LastImage: Equatable, Sendable {
        /// The URL that the image came from.
        let url: IconURL
        let image: ImageID
        /// When the app's URL changed.
        var since: Timestamp?
    }

    /// What is known of it from earlier versions of its list.
    struct Past: Equatable, Sendable {
        /// Shown while its icon has no image.
        var last: LastImage?
        /// What it showed until its icon got an image that no manifest names yet: that may be found to be missing.
        var before: LastImage?
        /// Its URL before, whose image is in the publication in flight.
        var coming: IconURL?
    }
}
