// SPDX-License-Identifier: Apache-2.0

extension IconCache {
    /// What there is now, and then every change, for as long as the iteration goes on.
    ///
    /// The first elements tell the present state, as if everything had just been added; so a subscriber that comes late, or
    /// iterates anew, misses nothing. States that come and go faster than they are taken out are passed over: what is told
    /// always leads to the newest.
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
    /// A change is noticed by inotify at once, and where that is blind or refused, within two seconds. A cache that is not
    /// there yet, or for a while, is waited for; its absence is no change. Cancelling the task ends the iteration. Documents
    /// are read and compared away from the actor that iterates, and only those that changed.
    ///
    /// The iteration throws ``IconCacheError`` if the newest manifest or a document that it names cannot be read.
    ///
    /// - Returns: The changes; each iteration of them stands for itself, and keeps one file open.
    public func changes() -> some AsyncSequence<Change, IconCacheError> & Sendable {
        changes(pollingEvery: Self.pollingInterval)
    }

    /// The present document of an app list, and then each one that takes its place.
    ///
    /// The first element comes at once, and is `nil` if there is no such list, no good version of it yet, or no cache at
    /// all; later a `nil` says that the list is gone. Otherwise it is as with ``changes()``, but of this list alone: no
    /// other document is read, and a change of another list gives no element.
    ///
    /// - Parameter list: The app list's file name: `apps.plist`.
    /// - Returns: The documents; each iteration of them stands for itself, and keeps one file open.
    public func changes(ofList list: ListName) -> some AsyncSequence<AppListDocument?, IconCacheError> & Sendable {
        changes(ofList: list, pollingEvery: Self.pollingInterval)
    }

    /// The present state of an icon, and then each one that takes its place: another image, another error.
    ///
    /// The first element comes at once, and is `nil` if no app list names the icon, or there is no cache at all; later a
    /// `nil` says that the last list stopped to name it. Otherwise it is as with ``changes()``, but of this icon alone. If
    /// several lists name it, the first of them by name counts.
    ///
    /// - Parameter url: The icon's URL, spelled exactly as in the app list.
    /// - Returns: The states; each iteration of them stands for itself, and keeps one file open.
    /// - Complexity: Each publication costs O(*n*), where *n* is the size of the documents that changed: they are searched,
    ///   and not parsed. Who shows many icons of a list follows the list.
    public func changes(
        ofIcon url: IconURL
    ) -> some AsyncSequence<AppListDocument.State?, IconCacheError> & Sendable {
        changes(ofIcon: url, pollingEvery: Self.pollingInterval)
    }
}

extension IconCache {
    /// How often the manifest is looked at although nothing was reported.
    private static let pollingInterval: Duration = .seconds(2)

    // The same with the pace of polling as a parameter.

    package func changes(pollingEvery interval: Duration) -> some AsyncSequence<Change, IconCacheError> & Sendable {
        Changes(cache: self, beginning: KnownState(), interval: interval)
    }

    package func changes(
        ofList list: ListName, pollingEvery interval: Duration
    ) -> some AsyncSequence<AppListDocument?, IconCacheError> & Sendable {
        Changes(cache: self, beginning: KnownList(list), interval: interval)
    }

    package func changes(
        ofIcon url: IconURL, pollingEvery interval: Duration
    ) -> some AsyncSequence<AppListDocument.State?, IconCacheError> & Sendable {
        Changes(cache: self, beginning: KnownIcon(url), interval: interval)
    }
}

private struct Changes<Known: Subscription>: AsyncSequence, Sendable {
    let cache: IconCache
    /// What a subscriber knows before anything was told.
    let beginning: Known
    let interval: Duration

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let reader: SubscriptionReader<Known>
        /// It lives as long as the iteration.
        private var watch: ManifestWatch?
        private var hints: AsyncStream<Void>.Iterator
        private var batch: ArraySlice<Known.Element> = []

        init(_ sequence: Changes) {
            // The watch comes first: what is published while the present state is read must leave a hint.
            let watch = ManifestWatch(sequence.cache.folder, pollingEvery: sequence.interval)
            self.watch = watch
            hints = watch.hints.makeAsyncIterator()
            reader = SubscriptionReader(sequence.cache, sequence.beginning)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(IconCacheError) -> Known.Element? {
            guard watch != nil else { return nil }
            do throws(IconCacheError) {
                while batch.isEmpty, !Task.isCancelled {
                    batch = try await reader.news()[...]
                    if batch.isEmpty, await hints.next(isolation: actor) == nil { break }
                }
            } catch {
                watch = nil
                throw error
            }
            guard !Task.isCancelled, let change = batch.popFirst() else {
                watch = nil
                return nil
            }
            return change
        }
    }
}
