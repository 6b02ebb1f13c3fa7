// SPDX-License-Identifier: Apache-2.0

/// One thing that is different in a cache from what it was before.
///
/// One publication gives each list and each URL one change at most, the lists first. An icon is one URL, however many lists
/// name it: it is gone when the last of them stops to.
public enum Change: Hashable, Sendable {
    /// There is an app list of this file name that was not there before.
    case listAdded(ListName)
    /// The document of this app list is another one: its entries, their order, or the state of one of them.
    case listChanged(ListName)
    /// There is no app list of this file name any more.
    case listRemoved(ListName)
    /// The icon has an image, and had none before.
    case iconReady(url: IconURL, image: AppListDocument.Image)
    /// The icon has another image than before.
    case iconReplaced(url: IconURL, image: AppListDocument.Image)
    /// No app list names the icon any more, or it has no image any more. The file stays for the grace period.
    case iconGone(url: IconURL)
}
