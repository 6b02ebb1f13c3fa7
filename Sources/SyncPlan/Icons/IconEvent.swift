// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// What happens to an icon.
package enum IconEvent: Sendable {
    /// How a download ended, unless it was cancelled.
    package enum End: Sendable {
        /// With a new image, which waits to be published.
        case staged(StagedImage, IconRecord.Answer)
        /// The image on disk is the current one.
        case confirmed(IconRecord.Answer)
        /// The server confirmed another image than the one on disk.
        case contradicted(Timestamp)
        case failed(IconRecord.Failure)
        /// There was no room for the image.
        case blocked
        /// What came is of no use.
        case discarded
    }

    // What lists say.

    /// A published list names it, as found at the start; `alone` is an array of this list, shared by its icons.
    case listed(
        by: ListName, alone: [ListName], expected: Digest? = nil, image: Boxed<AppListDocument.Image>? = nil)
    /// A list names it: the one in the array, which its icons share.
    case named(by: [ListName])
    case unnamed(by: ListName)
    /// The digest that a list gives for the image has changed.
    case expected(Digest?, by: ListName)

    // Downloads.

    case queued(IconSource, origin: String)
    case dequeued
    case started
    case cancelled
    case ended(End, trail: FetchTrail?)
    /// There was no room to publish its image.
    case blocked
    /// Its staged image is dropped.
    case unstaged

    // Images.

    /// The staged image is on disk; `nil` in place of the generation emits no event.
    case published(Boxed<AppListDocument.Image>, generation: Int?)
    case confirmed(IconRecord.Answer)
    /// It cannot be requested, or its staged image cannot be published.
    case failed(IconRecord.Failure)
    /// An image that no record had is on disk.
    case found(Boxed<AppListDocument.Image>, freshUntil: Timestamp)
    /// The image on disk is missing or damaged.
    case lost
    case evicted
    case purged

    // Time.

    /// It is considered again then.
    case scheduled(Timestamp?)
    /// Its next attempt is due now.
    case retried(Timestamp)
    /// A user requests it now.
    case requested(Timestamp, isRefresh: Bool)
    /// The freshness of its image ends then.
    case expires(Timestamp)
    case lacking(SourceLack?)
    /// An earlier run stored this; without a freshness nothing is known of the image on disk.
    case remembered(StoredResponse?, freshUntil: Timestamp?, IconRecord.Failure?, FetchTrail?)

    /// Whether the state of the icon in list documents can be another one afterwards.
    var mayChangeDocuments: Bool {
        switch self {
        case .ended, .unstaged, .published, .confirmed, .failed, .found, .lost, .evicted, .purged: true
        case .listed, .named, .unnamed, .expected, .queued, .dequeued, .started, .cancelled, .blocked, .scheduled,
            .retried, .requested, .expires, .lacking, .remembered:
            false
        }
    }

    /// Whether the icon may have to be requested, or forgotten, afterwards.
    ///
    /// After changes of lists, that is decided once all lists are taken in.
    var needsDecision: Bool {
        switch self {
        case .dequeued, .cancelled, .ended, .unstaged, .published, .confirmed, .failed, .found, .lost, .evicted,
            .purged, .retried, .requested, .expires:
            true
        case .listed, .named, .unnamed, .expected, .queued, .started, .blocked, .scheduled, .lacking, .remembered: false
        }
    }

    /// Whether what is stored of the icon for the next start is outdated afterwards.
    var changesMemo: Bool {
        switch self {
        case .ended(let end, _):
            switch end {
            case .confirmed, .contradicted, .failed: true
            case .staged, .blocked, .discarded: false
            }
        case .published, .confirmed, .failed, .found, .lost, .evicted, .purged, .requested, .expires: true
        case .listed, .named, .unnamed, .expected, .queued, .dequeued, .started, .cancelled, .blocked, .unstaged,
            .scheduled, .retried, .lacking, .remembered:
            false
        }
    }
}
