// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
package import HTTPRules

/// Everything known of one URL but its response, which the ``IconTable`` has; only ``apply(_:)`` changes it.
package struct IconRecord: Equatable, Sendable, IconStanding {
    /// What the agent does for the URL; large payloads are indirect, because there are very many records.
    enum Phase: Equatable, Sendable {
        case idle
        /// The icon waits for a slot, or for its origin.
        indirect case queued(IconSource, origin: String)
        case fetching
        indirect case staged(Staged, Answer)
        /// The icon waits for disk space.
        case blocked
    }

    /// A downloaded image that waits to be published.
    struct Staged: Equatable, Sendable {
        let image: ImageID
        /// The name of its file in `staging/`.
        let name: String
    }

    package typealias Failure = RepeatedFailure

    /// What became of a user's wish for a full request: one without conditions, past caches.
    enum FullRequest: Sendable {
        case none
        /// The next request is a full one; one that is in flight was sent before the wish.
        case wanted
        /// The full request is in flight, or its image is staged.
        case sent
        /// The last answer is that to a full request.
        case answered
    }

    /// A server's response about an image, with the freshness that follows from it.
    struct Answer: Equatable, Sendable {
        var response: PackedResponse
        /// No request is sent before this time.
        var freshUntil: Timestamp
    }

    /// What few icons have.
    private struct Extras: Equatable, Sendable {
        var expected: [ListName: Set<Digest>] = [:]
        var failure: Failure?
    }

    /// Flags in one byte, because there are very many records.
    private struct Marks: OptionSet, Sendable {
        let rawValue: UInt8
        static let missing = Marks(rawValue: 1)
        static let awaited = Marks(rawValue: 2)
    }

    /// The lists that name it; empty if none does.
    fileprivate(set) var lists: [ListName] = []
    @Boxed private var extras: Extras?
    /// No request is sent for the image on disk before this time.
    fileprivate(set) var freshUntil = Timestamp.distantPast
    /// The hops of the last download, if worth reporting; without the icon's own URL.
    fileprivate(set) var trail: FetchTrail?
    fileprivate(set) var phase = Phase.idle
    /// When the icon is decided again.
    fileprivate(set) var due: Timestamp?
    private var marks: Marks = []
    /// A full request that brings nothing leaves the wish to the next one.
    fileprivate(set) var fullRequest = FullRequest.none
    /// Why no source has the image, as of the last decision.
    fileprivate(set) var sourceLack: SourceLack?
    /// The image on disk.
    fileprivate(set) var image: ImageID?
    /// Whether the URL contains the image itself, so that it never changes.
    let isInline: Bool

    init(isInline: Bool = false) {
        self.isInline = isInline
    }

    /// The digests that lists give for the image; no list has an empty set.
    fileprivate(set) var expected: [ListName: Set<Digest>] {
        get { extras?.expected ?? [:] }
        set { set(Extras(expected: newValue, failure: failure)) }
    }

    fileprivate(set) var failure: Failure? {
        get { extras?.failure }
        set { if _extras.isFull || newValue != nil { set(Extras(expected: expected, failure: newValue)) } }
    }

    /// Whether the image was on disk once, and was found missing.
    fileprivate(set) var wasMissing: Bool {
        get { marks.contains(.missing) }
        set { mark(.missing, newValue) }
    }

    /// Whether a user asked for the request that is under way, or that follows.
    fileprivate(set) var isAwaited: Bool {
        get { marks.contains(.awaited) }
        set { mark(.awaited, newValue) }
    }

    private mutating func mark(_ mark: Marks, _ isSet: Bool) {
        if isSet { marks.insert(mark) } else { marks.remove(mark) }
    }

    private mutating func set(_ new: Extras) { extras = new == Extras() ? nil : new }

    var isReferenced: Bool { !lists.isEmpty }

    /// Whether an image has one of the digests that lists give; true if they give none.
    func accepts(_ image: Digest) -> Bool {
        expected.isEmpty || expected.values.contains { $0.contains(image) }
    }

    /// Whether its image is on disk although no list names it.
    var isRetired: Bool { !isReferenced && hasImage }

    var isQueued: Bool { if case .queued = phase { true } else { false } }

    var staged: Staged? { if case .staged(let image, _) = phase { image } else { nil } }

    var stagedAnswer: Answer? { if case .staged(_, let answer) = phase { answer } else { nil } }

    /// The image in list documents, once a staged one is published.
    var shownImage: ImageID? { staged?.image ?? image }

    var hasImage: Bool { image != nil }
    var hasStaged: Bool { if case .staged = phase { true } else { false } }
    var hasFailed: Bool { _extras.isFull && failure != nil }
    /// Whether no request can succeed until its lists or the settings change: its URL is refused, or damaged data.
    var isRefused: Bool { failure.map { $0.nextAttempt == nil && $0.code != .fetch(.overLimit) } ?? false }
    var isFullRequested: Bool { fullRequest == .wanted || fullRequest == .sent }

    /// Whether a request only refreshes the image, and no user asked for it.
    var isRoutine: Bool { hasImage && !isAwaited && !isFullRequested }

    /// Whether lists accept the image; `true` without one.
    func acceptsImage(in images: ImageTable) -> Bool {
        expected.isEmpty || images.digest(image).map(accepts) ?? true
    }

    /// The state in a list document, once a staged image is published.
    func state(in images: ImageTable) -> AppListDocument.State {
        if let shownImage { return .ready(images.image(shownImage)) }
        if let failure { return .failed(error: failure.code.rawValue) }
        return .pending
    }
}

// MARK: Changes

extension IconRecord {
    mutating func apply(_ event: IconEvent) {
        assert(isPossible(event), "\(event) happened to an icon that is \(phase)")
        update(with: event)
    }

    /// Whether an event can happen to the icon as it is.
    func isPossible(_ event: IconEvent) -> Bool {
        switch event {
        case .queued: phase == .idle
        case .confirmed: phase == .idle && hasImage
        case .started: isQueued
        case .ended(.confirmed, _): phase == .fetching && hasImage
        case .cancelled, .ended: phase == .fetching
        case .dequeued: isQueued || phase == .blocked
        case .blocked, .unstaged, .published: hasStaged
        case .failed: phase == .idle || hasStaged
        case .found: !hasImage
        case .inherited: !hasStaged
        case .evicted: hasImage
        case .listed, .named, .unnamed, .expected, .lost, .purged, .scheduled, .retried, .requested, .expires, .lacking,
            .awaited, .withdrawn, .remembered:
            true
        }
    }

    private mutating func update(with event: IconEvent) {
        switch event {
        case .listed(let list, let alone, let digest, let image):
            if lists.last != list { lists = lists.isEmpty ? alone : lists + alone }
            if let digest { expected[list, default: []].insert(digest) }
            if let image { self.image = image }
        case .named(let alone): lists = lists.isEmpty ? alone : lists + alone
        case .unnamed(let list): lists.removeAll { $0 == list }
        case .expected(let digests, let list): expected[list] = digests.isEmpty ? nil : digests

        case .queued(let source, let origin): phase = .queued(source, origin: origin)
        case .started:
            phase = .fetching
            fullRequest = fullRequest == .wanted ? .sent : .none
        case .dequeued, .unstaged, .cancelled:
            phase = .idle
            renewFullRequest()
        case .blocked:
            phase = .blocked
            renewFullRequest()
        case .ended(let end, let trail):
            self.trail = trail
            phase = .idle
            if case .contradicted = end {} else { isAwaited = false }
            update(with: end)

        case .failed(let failure):
            (phase, self.failure, isAwaited) = (.idle, failure, false)
            renewFullRequest()
        case .confirmed(let answer):
            // An upstream decides for its followers.
            (fullRequest, isAwaited) = (.none, false)
            confirm(answer)
        case .published:
            guard case .staged(let new, let answer) = phase else {
                preconditionFailure("only staged images are published")
            }
            (phase, image) = (.idle, new.image)
            confirm(answer)
        case .found(let image, let time):
            self.image = image
            wasMissing = false
            freshUntil = time
        case .inherited(let image, _, let time):
            (self.image, freshUntil) = (image, time)
            (failure, wasMissing) = (nil, false)
            if fullRequest == .answered { fullRequest = .none }
        case .lost:
            (image, wasMissing) = (nil, true)
        case .evicted:
            (image, fullRequest) = (nil, .none)
        case .purged:
            (image, failure, trail, wasMissing) = (nil, nil, nil, false)
            (freshUntil, fullRequest) = (.distantPast, .none)
            if phase == .blocked { phase = .idle }

        case .scheduled(let time): due = time
        case .retried(let now): failure?.nextAttempt = now
        case .requested(let now, let isRefresh, let isFull):
            failure?.nextAttempt = now
            // The server may have a smaller image now.
            failure?.imageBytes = nil
            isAwaited = true
            if isRefresh { freshUntil = min(freshUntil, now) }
            if isFull { fullRequest = .wanted }
        case .expires(let time): freshUntil = time
        case .lacking(let lack): sourceLack = lack
        case .awaited: isAwaited = true
        case .withdrawn: failure = nil
        case .remembered(_, let freshUntil, let failure, let trail):
            self.trail = trail
            if let freshUntil { self.freshUntil = freshUntil }
            if let failure { self.failure = failure }
        }
    }

    /// The response that brought or confirmed the image on disk, after an event; `nil` if it stays what it is.
    func response(after event: IconEvent) -> PackedResponse?? {
        switch event {
        case .confirmed(let answer), .ended(.confirmed(let answer), _): answer.response
        case .published: stagedAnswer.map(\.response)
        case .inherited(_, let response, _), .remembered(let response, .some, _, _): .some(response)
        case .lost, .evicted, .purged, .ended(.contradicted, _): .some(nil)
        default: nil
        }
    }

    private mutating func update(with end: IconEvent.End) {
        switch end {
        case .staged(let image, let answer): phase = .staged(image, answer)
        case .confirmed(let answer): confirm(answer)
        case .contradicted(let now):
            freshUntil = now
            renewFullRequest()
        case .failed(let failure):
            self.failure = failure
            renewFullRequest()
        case .blocked:
            phase = .blocked
            renewFullRequest()
        case .discarded: renewFullRequest()
        }
    }

    private mutating func confirm(_ answer: Answer) {
        (failure, wasMissing) = (nil, false)
        // The answer to an earlier request does not fulfil the user's wish.
        guard fullRequest != .wanted else { return }
        freshUntil = answer.freshUntil
        fullRequest = fullRequest == .sent ? .answered : .none
    }

    /// Makes the next request a full one, if the request that ended was one.
    private mutating func renewFullRequest() {
        if fullRequest == .sent { fullRequest = .wanted }
    }
}
