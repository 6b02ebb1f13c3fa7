// SPDX-License-Identifier: Apache-2.0

/// A difference between two states of a cache.
///
/// A publication yields at most one change per list and one per URL, the lists first. An icon is one URL, however many
/// lists name it; it is gone when no list names it.
public enum Change: Hashable, Sendable {
    /// An app list with this file name was added.
    case listAdded(ListName)
    /// This app list has a new document: its entries, their order, or the state of an entry changed.
    case listChanged(ListName)
    /// The app list with this file name was removed.
    case listRemoved(ListName)
    /// An icon that had no image has one now.
    case iconReady(url: IconURL, image: AppListDocument.Image)
    /// The image of an icon was replaced by another.
    case iconReplaced(url: IconURL, image: AppListDocument.Image)
    /// No app list names the icon any more, or it lost its image. The file stays for the grace period.
    case iconGone(url: IconURL)
}
