// SPDX-License-Identifier: Apache-2.0

/// The elements that a subscriber gets, from the current state on.
struct ChangeSequence<Known: Subscription>: AsyncSequence, Sendable {
    let cache: IconCache
    /// The knowledge of a new subscriber, which is empty.
    let beginning: Known

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        private let reader: SubscriptionReader<Known>
        /// The watch on the manifest; `nil` once the iteration has ended.
        private var watch: ManifestWatch?
        private var hints: AsyncStream<Void>.Iterator
        private var batch: ArraySlice<Known.Element> = []

        init(_ sequence: ChangeSequence) {
            // The watch starts first, so that a publication while the current state is read leaves a hint.
            let watch = ManifestWatch(sequence.cache.folder, pollingEvery: sequence.cache.pollingInterval)
            self.watch = watch
            hints = watch.hints.makeAsyncIterator()
            reader = SubscriptionReader(sequence.cache, sequence.beginning)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(IconCacheError) -> Known.Element? {
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
