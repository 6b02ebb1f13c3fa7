// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules

/// The properties of an icon that are counted, indexed or published; if a change leaves them equal, no count or document
/// changes.
struct IconFacets: Equatable, IconStanding {
    /// The phase of an icon, as far as it is counted.
    enum Work: Equatable {
        /// The icon is idle, or has a staged image.
        case none
        case queued(origin: String)
        case fetching
        case blocked
    }

    var lists: [ListName]
    let work: Work
    /// The image on disk.
    let image: ImageID?
    let staged: ImageID?
    /// The size of the icon's image, the staged one if there is one; the ``Catalog`` sets it.
    var bytes = 0
    let failure: FetchFailure.Code?
    /// Whether a retry is due some time after a failure.
    let isRetried: Bool
    /// Why no source will soon have the image of an idle icon.
    private let lack: SourceLack?
    let isScheduled: Bool
    /// Whether its work is only a refresh that no user asked for; the ``Catalog`` corrects it if lists refuse the image.
    var isRoutine: Bool

    init(_ icon: IconRecord) {
        var new: IconRecord.Staged?
        isRoutine = false
        switch icon.phase {
        case .idle: work = .none
        case .queued(_, let origin): (work, isRoutine) = (.queued(origin: origin), icon.isRoutine)
        case .fetching: (work, isRoutine) = (.fetching, icon.isRoutine)
        case .staged(let image, _): (work, new) = (.none, image)
        case .blocked: work = .blocked
        }
        let isIdle = work == .none && new == nil
        lists = icon.lists
        image = icon.image
        staged = new?.image
        failure = icon.failure?.code
        isRetried = isIdle && icon.failure?.nextAttempt != nil
        lack = isIdle ? icon.sourceLack : nil
        isScheduled = icon.due != nil
    }

    var isReferenced: Bool { !lists.isEmpty }
    var hasImage: Bool { image != nil }
    var hasStaged: Bool { staged != nil }
    var hasFailed: Bool { failure != nil }

    /// The image on disk that lists show.
    var shown: ImageID? { isReferenced ? image : nil }
    /// The image on disk that no list shows any more.
    var retired: ImageID? { isReferenced ? nil : image }

    /// Why a referenced icon has no image.
    var missingFailure: FetchFailure.Code? { isReferenced && standing == .failed ? failure : nil }
    /// Why the last refresh of a referenced icon failed.
    var refreshFailure: FetchFailure.Code? { isReferenced && isStale ? failure : nil }
    /// Why no source will soon have a referenced icon that waits for one.
    var sourceLack: SourceLack? { isReferenced && standing == .pending ? lack : nil }

    /// Whether the icon is counted for the same reasons as another one.
    func isGrouped(like other: IconFacets) -> Bool {
        missingFailure == other.missingFailure && refreshFailure == other.refreshFailure
            && sourceLack == other.sourceLack
    }

    /// Whether list documents show the same for the icon, once a staged image is published.
    func isSameInDocuments(as other: IconFacets) -> Bool {
        guard let image = staged ?? image else {
            return (other.staged ?? other.image) == nil && failure == other.failure
        }
        return image == other.staged ?? other.image
    }
}

/// The properties that determine an icon's status.
protocol IconStanding {
    var hasImage: Bool { get }
    var hasStaged: Bool { get }
    var hasFailed: Bool { get }
}

extension IconStanding {
    /// The icon's status in list documents.
    var standing: AppListDocument.Status { hasImage || hasStaged ? .ready : hasFailed ? .failed : .pending }

    /// The status as readers see it: an icon is ready once its image is published.
    var shownStanding: AppListDocument.Status { isUnpublished ? .pending : standing }

    /// Whether the icon's last refresh failed: the old image stays.
    var isStale: Bool { hasImage && !hasStaged && hasFailed }

    /// Whether the icon's first image waits to be published: readers do not find it yet.
    var isUnpublished: Bool { hasStaged && !hasImage }
}
