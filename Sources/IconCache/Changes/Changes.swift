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
        changes(pollingEvery: .seconds(2))
    }

    /// What there is now, and then every change, with the pace of polling as a parameter.
    ///
    /// - Parameter interval: How often the manifest is looked at although nothing was reported.
    /// - Returns: The changes.
    package func changes(pollingEvery interval: Duration) -> some AsyncSequence<Change, IconCacheError> & Sendable {
        Changes(cache: self, interval: interval)
    }
}

private struct Changes: AsyncSequence, Sendable {
    let cache: IconCache
    let interval: Duration

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let reader: ChangeReader
        /// It lives as long as the iteration.
        private var watch: ManifestWatch?
        private var hints: AsyncStream<Void>.Iterator
        private var batch: ArraySlice<Change> = []

        init(_ sequence: Changes) {
            // The watch comes first: what is published while the present state is read must leave a hint.
            let watch = ManifestWatch(sequence.cache.folder, pollingEvery: sequence.interval)
            self.watch = watch
            hints = watch.hints.makeAsyncIterator()
            reader = ChangeReader(sequence.cache)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(IconCacheError) -> Change? {
            guard watch != nil else { return nil }
            do throws(IconCacheError) {
                while batch.isEmpty, !Task.isCancelled {
                    batch = try await reader.changes()[...]
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
