// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules

/// An event in the life of an icon.
enum IconEvent: Sendable {
    /// How a download ended, unless it was cancelled.
    enum End: Sendable {
        /// A new image waits to be published.
        case staged(IconRecord.Staged, IconRecord.Answer)
        /// The image on disk is the current one.
        case confirmed(IconRecord.Answer)
        /// The server confirmed another image than the one on disk.
        case contradicted(Timestamp)
        case failed(IconRecord.Failure)
        /// There was no room for the image.
        case blocked
        /// The result is dropped, because no list names the icon any more.
        case discarded
    }

    // Lists.

    /// A published list names the icon at the start; `alone` is an array of this list, shared by its icons.
    case listed(by: ListName, alone: [ListName], expected: Digest? = nil, image: ImageID? = nil)
    /// The list in the array names the icon; the list's icons share the array.
    case named(by: [ListName])
    case unnamed(by: ListName)
    /// A list gives another digest for the image, or no digest any more.
    case expected(Set<Digest>, by: ListName)

    // Downloads.

    case queued(IconSource, origin: String)
    case dequeued
    case started
    case cancelled
    case ended(End, trail: FetchTrail?)
    /// There was no room to publish the icon's image.
    case blocked
    /// The icon's staged image is dropped.
    case unstaged

    // Images.

    /// The staged image, of this size, is published; without a generation, no event is emitted.
    case published(bytes: Int, generation: Int?)
    case confirmed(IconRecord.Answer)
    /// The icon cannot be requested, or its staged image cannot be published.
    case failed(IconRecord.Failure)
    /// An image that the record lacked is on disk.
    case found(ImageID, freshUntil: Timestamp)
    /// The icon gets the image of another URL with the same cache key.
    case inherited(ImageID, PackedResponse?, freshUntil: Timestamp)
    /// The image on disk is missing or damaged.
    case lost
    case evicted
    case purged

    // Time.

    /// Sets when the icon is decided again; `nil` for no time.
    case scheduled(Timestamp?)
    /// The icon's next attempt is due now.
    case retried(Timestamp)
    /// A user requests the icon, for which a request is under way already.
    case awaited
    /// A user requests the icon now; if full, without conditions.
    case requested(Timestamp, isRefresh: Bool, isFull: Bool = false)
    /// Sets the end of the freshness lifetime of the icon's image.
    case expires(Timestamp)
    case lacking(SourceLack?)
    /// No upstream reports the icon's failure any more.
    case withdrawn
    /// Restores the state that an earlier run stored; without a freshness, nothing is known of the image on disk.
    case remembered(PackedResponse?, freshUntil: Timestamp?, IconRecord.Failure?, FetchTrail?)

    /// What may follow from the event: changed documents of the icon's lists, a changed memo, and a decision whether to
    /// request, schedule or forget the icon.
    ///
    /// Documents change only if they show something else for the icon.
    /// For the first image of an icon, the memo describes the staged one.
    func consequences(ofFirstImage isFirst: Bool) -> (documents: Bool, memo: Bool, decision: Bool) {
        switch self {
        // For changed lists, icons are decided once all are applied.
        case .listed, .named, .unnamed, .expected, .queued, .started, .scheduled, .lacking, .awaited,
            .remembered:
            (documents: false, memo: false, decision: false)
        case .dequeued, .cancelled, .retried: (documents: false, memo: false, decision: true)
        case .requested, .expires: (documents: false, memo: true, decision: true)
        case .blocked: (documents: false, memo: isFirst, decision: false)
        case .withdrawn: (documents: true, memo: true, decision: false)
        case .ended(.blocked, _), .ended(.discarded, _): (documents: true, memo: false, decision: true)
        case .ended(.staged, _), .unstaged: (documents: true, memo: isFirst, decision: true)
        case .published: (documents: true, memo: !isFirst, decision: true)
        case .ended(.confirmed, _), .ended(.contradicted, _), .ended(.failed, _), .confirmed, .failed, .found,
            .inherited, .lost, .evicted, .purged:
            (documents: true, memo: true, decision: true)
        }
    }
}
