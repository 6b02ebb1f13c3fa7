// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// Everything known of one URL.
package struct IconRecord: Equatable, Sendable {
    /// Where the URL is between being planned and being on disk.
    package enum Phase: Hashable, Sendable {
        case idle
        /// It waits for its turn, or for its origin; with what its URL was read as. Apart, because there are very many
        /// records.
        indirect case queued(IconSource, origin: String)
        case fetching
        /// There was no room for its image: it waits until there is.
        case waitingForSpace
    }

    package typealias Failure = RepeatedFailure

    /// What a server said of an image.
    package struct Answer: Equatable, Sendable {
        package var response: StoredResponse
        /// Until when no request is sent for the image.
        package var freshUntil: Timestamp
    }

    /// The lists that name it; none if it is retired.
    package var lists: [ListName] = []
    /// The digest that lists give for the image, by list; for those that give one.
    package var expected: [ListName: Digest] = [:]
    /// The image on disk that the newest generation names or that an older one left.
    @Boxed package var image: AppListDocument.Image?
    /// The image that waits to be published.
    @Boxed package var staged: StagedImage?
    /// What the server said of the image that waits to be published.
    @Boxed package var stagedAnswer: Answer?
    @Boxed package var failure: Failure?
    /// What the server said of the image on disk, if that is known.
    @Boxed package var response: StoredResponse?
    /// Until when no request is sent for an image that is on disk.
    package var freshUntil = Timestamp.distantPast
    /// The way that the last download took, if it was not straight.
    ///
    /// The icon's own URL is left out of it.
    package var trail: FetchTrail?
    package var phase = Phase.idle
    /// When it is noted to be looked at again.
    package var noted: Timestamp?
    /// Whether the image was on disk once, and was found missing.
    package var wasMissing = false
    /// Why no upstream would have it soon, when it was looked at last.
    package var sourceLack: SourceLack?
    /// Whether the URL carries the image itself, so that there never is another one.
    package let isInline: Bool

    package init(isInline: Bool = false) {
        self.isInline = isInline
    }

    package var isReferenced: Bool { !lists.isEmpty }

    /// Whether an image is what the lists say: where they give digests, it must have one of them.
    package func accepts(_ image: Digest) -> Bool { expected.isEmpty || expected.values.contains(image) }

    /// Whether an image of it is on disk although no list names it.
    package var isRetired: Bool { !isReferenced && hasImage }

    /// Whether it waits for its turn, or for its origin.
    package var isQueued: Bool { if case .queued = phase { true } else { false } }

    var hasImage: Bool { _image.isFull }
    var hasStaged: Bool { _staged.isFull }
    var hasFailed: Bool { _failure.isFull }

    /// The image on disk, in the box that it is kept in.
    var boxedImage: Boxed<AppListDocument.Image> {
        get { _image }
        set { _image = newValue }
    }

    /// The state as a list document has it, once what is staged is published.
    package var state: AppListDocument.State {
        if let image = staged?.image ?? image { return .ready(image) }
        if let failure { return .failed(error: failure.code.rawValue) }
        return .pending
    }
}
