// SPDX-License-Identifier: Apache-2.0

extension IconCache {
    /// The current state, then every change, for as long as the iteration runs.
    ///
    /// The first elements describe the current state as if everything had just been added, so a subscriber that starts
    /// late or iterates again misses nothing. States that are superseded before they are read are skipped; the changes
    /// always lead to the newest state.
    /// ```swift
    /// for try await change in cache.changes() {
    ///     switch change {
    ///     case .iconReady(let url, let image), .iconReplaced(let url, let image):
    ///         show(cache.path(of: image), for: url)
    ///     case .iconGone(let url):
    ///         showPlaceholder(for: url)
    ///     case .listAdded(let list), .listChanged(let list):
    ///         layOut(try cache.apps(in: list) ?? [])
    ///     case .listRemoved(let list):
    ///         remove(list)
    ///     }
    /// }
    /// ```
    /// Changes arrive at once through inotify; where inotify is unavailable, polling finds them within two seconds. If
    /// there is no cache yet, or none for a while, the iteration waits for it; its absence is not a change. Cancelling
    /// the task ends the iteration. Documents are read and compared outside the actor that iterates, and only those
    /// that changed.
    ///
    /// The iteration throws ``IconCacheError`` if the newest manifest, or a document that it names, cannot be read.
    ///
    /// - Returns: The changes. Each iteration is independent, and keeps one file open.
    public func changes() -> some AsyncSequence<Change, IconCacheError> & Sendable {
        ChangeSequence(cache: self, beginning: KnownState())
    }

    /// The current document of an app list, then each document that replaces it.
    ///
    /// The first element comes at once. It is `nil` if there is no such list, no valid version of it yet, or no cache;
    /// a later `nil` means that the list was removed. Otherwise this works like ``changes()``, for one list: no other
    /// document is read, and a change of another list yields no element.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: The documents. Each iteration is independent, and keeps one file open.
    public func changes(ofList list: ListName) -> some AsyncSequence<AppListDocument?, IconCacheError> & Sendable {
        ChangeSequence(cache: self, beginning: KnownDocument(list))
    }

    /// The current state of an icon, then each state that replaces it: another image, another error.
    ///
    /// The first element comes at once. It is `nil` if no app list names the icon, or there is no cache; a later `nil`
    /// means that no list names it any more. Otherwise this works like ``changes()``, for one icon. If several entries
    /// name the icon, one with its own image counts first, then one with a previous image, then one without an image;
    /// among equals, the first list by name counts.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: The states. Each iteration is independent, and keeps one file open.
    /// - Complexity: Each publication costs O(*n*), where *n* is the size of the documents that changed: they are
    ///   searched, not parsed. To show many icons of a list, follow the list.
    public func changes(
        ofIcon url: IconURL
    ) -> some AsyncSequence<AppListDocument.State?, IconCacheError> & Sendable {
        ChangeSequence(cache: self, beginning: KnownIcon(url))
    }
}
