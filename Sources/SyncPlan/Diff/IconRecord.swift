// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Everything known of one URL.
package struct IconRecord: Equatable, Sendable {
    /// Where the URL is between being planned and being on disk.
    package enum Phase: Hashable, Sendable {
        case idle
        /// It waits for its turn, or for its origin. Apart, because there are very many records.
        indirect case queued(origin: String)
        case fetching
        /// There was no room for its image: it waits until there is.
        case crowdedOut
    }

    /// A failure, and what follows from it.
    package struct Failure: Equatable, Sendable {
        package var code: String
        package var message: String
        /// How many attempts failed in a row; those of a failure that is likely to last begin with its first one.
        package var attempts: Int
        /// When it is asked for again; `nil` if never, as things are.
        package var nextAttempt: Timestamp?

        package init(code: String, message: String, attempts: Int, nextAttempt: Timestamp?) {
            self.code = code
            self.message = message
            self.attempts = attempts
            self.nextAttempt = nextAttempt
        }
    }

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
        if let failure { return .failed(error: failure.code) }
        return .pending
    }
}

/// What is remembered of a URL over a restart, beside what the cache folder itself tells.
package struct IconMemo: Equatable, Sendable {
    package var url: IconURL
    /// The image that the response and the freshness are of.
    package var image: Digest?
    package var response: StoredResponse?
    package var freshUntil: Timestamp
    package var failure: IconRecord.Failure?
    /// Without the icon's own URL, as in its record.
    package var trail: FetchTrail?

    package init(
        url: IconURL, image: Digest?, response: StoredResponse?, freshUntil: Timestamp, failure: IconRecord.Failure?,
        trail: FetchTrail? = nil
    ) {
        self.url = url
        self.image = image
        self.response = response
        self.freshUntil = freshUntil
        self.failure = failure
        self.trail = trail
    }
}

/// What is to be stored, and what is to be deleted, so that a restart finds it.
package struct MemoChanges: Equatable, Sendable {
    package var remembered: [IconMemo]
    /// The URLs of icons that are known no more.
    package var forgotten: [IconURL]
    /// The origins that failed of late.
    package var origins: [OriginMemo] = []
    /// The origins that are well again.
    package var forgottenOrigins: [String] = []
    /// The lists that need not be parsed again as long as they are as they were.
    package var lists: [ListMemo] = []
    /// The lists that are gone, or of which there is more to tell.
    package var forgottenLists: [ListName] = []
    /// Whether downloads are paused from now on; `nil` if that has not changed.
    package var isPaused: Bool?
    /// When generations were superseded, by the clock of this run.
    package var superseded: [Int: Timestamp] = [:]
    /// The generations that are on disk no more.
    package var released: [Int] = []
    /// The change whose eviction is held, `.some(nil)` if there is none any more; `nil` if that has not changed.
    package var hold: EvictionBrake.Hold??
    /// The folder that the lists are in from now on; `nil` if that has not changed.
    package var folder: FolderIdentity?
    /// The highest number that a generation was given; `nil` if that has not changed.
    package var newestGeneration: Int?

    package init(remembered: [IconMemo] = [], forgotten: [IconURL] = []) {
        self.remembered = remembered
        self.forgotten = forgotten
    }

    package var isEmpty: Bool { self == MemoChanges() }

    /// Adds what is to be remembered and forgotten later, in place of what earlier memos say of the same.
    private static func append<Memo, Key: Hashable>(
        _ laterMemos: [Memo], _ laterForgotten: [Key], to memos: inout [Memo], _ forgotten: inout [Key],
        by key: KeyPath<Memo, Key>
    ) {
        let keys = Set(laterMemos.map { $0[keyPath: key] } + laterForgotten)
        memos.removeAll { keys.contains($0[keyPath: key]) }
        forgotten.removeAll(where: keys.contains)
        memos += laterMemos
        forgotten += laterForgotten
    }

    /// Takes later changes in, so that all of them can be stored at once.
    package mutating func append(_ later: MemoChanges) {
        Self.append(later.remembered, later.forgotten, to: &remembered, &forgotten, by: \.url)
        Self.append(later.origins, later.forgottenOrigins, to: &origins, &forgottenOrigins, by: \.origin)
        Self.append(later.lists, later.forgottenLists, to: &lists, &forgottenLists, by: \.list)
        isPaused = later.isPaused ?? isPaused
        superseded.merge(later.superseded) { $1 }
        for generation in later.released { superseded[generation] = nil }
        released.removeAll { later.superseded[$0] != nil }
        released += later.released
        hold = later.hold ?? hold
        folder = later.folder ?? folder
        newestGeneration = later.newestGeneration ?? newestGeneration
    }
}
