// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// An app of a list that shows its last image, because its icon has none.
struct App: Sendable {
    let entry: AppEntry
    let last: LastImage

    /// An image that an app showed.
    struct LastImage: Equatable, Sendable {
        /// The URL that the image came from.
        let url: IconURL
        let image: ImageID
        /// When the app's URL changed.
        var since: Timestamp?
    }

    /// What is known of an app from earlier versions of its list.
    struct Past: Equatable, Sendable {
        /// The image that is shown while the app's icon has none.
        var last: LastImage?
        /// The image shown until the icon got one that no manifest names yet, and that may turn out to be missing.
        var before: LastImage?
        /// The app's URL before, whose image is in the publication in flight.
        var coming: IconURL?
    }
}
