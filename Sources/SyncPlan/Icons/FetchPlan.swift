// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// Whether an icon is requested now, and why.
enum FetchPlan: Equatable, Sendable {
    case fetch(FetchReason)
    /// The image on disk is fresh until this time.
    case fresh(until: Timestamp)
    /// The image on disk is the one in the URL itself (`data:`), which never changes.
    case inline
    /// The last attempt failed; the next one is due at this time.
    case waiting(until: Timestamp)
    /// The icon is not retried in this run, unless its list or the settings change.
    case refused
    case unreferenced
    /// The icon is queued, in flight, waits for disk space, or waits to be published.
    case underWay

    /// The plan for an icon with this image, if any.
    init(for icon: IconRecord, with image: Digest?, now: Timestamp) {
        guard icon.isReferenced else {
            self = .unreferenced
            return
        }
        guard case .idle = icon.phase else {
            self = .underWay
            return
        }
        if let failure = icon.failure {
            guard let next = failure.nextAttempt else {
                self = .refused
                return
            }
            self = next > now ? .waiting(until: next) : .fetch(icon.fetchReason)
        } else if icon.hasImage {
            // An image without one of the lists' digests is never fresh.
            let isAccepted = image.map(icon.accepts) ?? true
            if icon.isInline, isAccepted {
                self = .inline
            } else {
                self = icon.freshUntil > now && isAccepted ? .fresh(until: icon.freshUntil) : .fetch(icon.fetchReason)
            }
        } else {
            self = .fetch(icon.fetchReason)
        }
    }
}

extension IconRecord {
    /// Why the icon is requested, if it is.
    var fetchReason: FetchReason {
        hasFailed ? .retry : hasImage ? .expired : wasMissing ? .missingOnDisk : .notCached
    }
}

extension Catalog {
    func fetchPlan(of id: IconID, now: Timestamp) -> FetchPlan {
        FetchPlan(for: icons[id].icon, with: images.digest(icons[id].icon.image), now: now)
    }
}
