// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// Whether an icon is asked for now, and why.
package enum FetchPlan: Equatable, Sendable {
    case fetch(FetchReason)
    /// The image on disk is fresh until then.
    case fresh(until: Timestamp)
    /// The image on disk is the one in the URL itself, for good.
    case inline
    /// The last attempt failed; the next one is due then.
    case waiting(until: Timestamp)
    /// It is never asked for as things are.
    case refused
    /// No list names it.
    case unreferenced
    /// A download is under way, or its result waits to be published.
    case underWay

    package init(for icon: IconRecord, now: Timestamp) {
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
        } else if let image = icon.image {
            // An image that is not what the lists say is never fresh.
            let isAccepted = icon.accepts(image.sha256)
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
    /// Why the icon is asked for, if it is.
    var fetchReason: FetchReason {
        failure != nil ? .retry : image != nil ? .expired : wasMissing ? .missingOnDisk : .notCached
    }
}
