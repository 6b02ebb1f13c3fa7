// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// A change that matters to somebody outside: what the event journal and the log are written from.
///
/// It holds values; its sentence is made when it is written (``message``).
package enum AgentEvent: Equatable, Sendable {
    case agentStarted(version: String)
    case agentStopping
    /// A new version of a list is in force.
    case listAccepted(ListName, apps: Int, problems: Int)
    /// A file is not accepted, and no version of the list is in force.
    case listRejected(ListName, ListRejection)
    /// A file is not accepted, and the last good version of the list stays in force.
    case listKept(ListName, ListRejection)
    case listRemoved(ListName)
    /// An icon that had no image has one since this generation; or a list names a retired icon again.
    case iconReady(IconURL, bytes: Int, generation: Int?)
    /// An icon has another image since this generation.
    case iconChanged(IconURL, bytes: Int, generation: Int)
    /// An icon without an image could not be downloaded.
    case iconFailed(IconURL, RepeatedFailure)
    /// The image of a ready icon could not be refreshed; it stays.
    case iconStale(IconURL, RepeatedFailure)
    /// The image of a stale icon was refreshed, and is the same.
    case iconFresh(IconURL)
    /// An app has another URL for its icon, and shows the image of the last one until the new one has an image.
    case iconKept(IconURL, previous: IconURL)
    /// No list names the icon any more; its image is still on disk.
    case iconRetired(IconURL)
    /// The image of a retired icon is removed.
    case iconEvicted(IconURL)
    /// A generation is in force, with so many new list documents and images; it may end a series of failures.
    case generationPublished(Int, lists: Int, images: Int, endsFailure: Bool)
    /// A publication failed; or it succeeded, and may not survive a power failure.
    case publicationFailed(reason: String, isInDoubt: Bool)
    /// There is no room for some downloads, or the agent lacks something else that they need.
    case downloadsBlocked(Shortage.Code, reason: String)
    case downloadsUnblocked
    case paused
    case resumed
    case pinned(IconURL)
    case unpinned(IconURL)
    case evictionHeld(reason: String)
    case evictionSuspended(reason: String)
    case evictionActive
    /// Something in the cache folder was missing or damaged, and is put right.
    case cacheHealed(Repair, summary: String)
    /// A new state database was begun; whether the agent knows what was in the old one, and stores it again.
    case stateReplaced(StateLoss, isKnown: Bool)
    /// The configuration was read again; which settings have other values now.
    case configurationReloaded(changed: [String])
    case configurationRejected(reason: String)
    /// An upstream is in another state, for this reason if something is wrong.
    case upstreamChanged(UpstreamURL, StatusReport.Upstream.State, reason: String)
    case purged
    /// A purge ended, and not everything is removed.
    case purgeFailed(PurgeReport)
}

extension AgentEvent {
    /// What was wrong with the cache folder.
    package enum Repair: String, CaseIterable, Sendable {
        case missingFiles = "missing-files"
        case damagedImages = "damaged-images"
        case otherFolder = "other-folder"
    }

    /// The stable word for what happened.
    package enum Kind: String, CaseIterable, Sendable {
        case agentStarted = "agent-started"
        case agentStopping = "agent-stopping"
        case listAccepted = "list-accepted"
        case listRejected = "list-rejected"
        case listKept = "list-kept"
        case listRemoved = "list-removed"
        case iconReady = "icon-ready"
        case iconChanged = "icon-changed"
        case iconFailed = "icon-failed"
        case iconStale = "icon-stale"
        case iconFresh = "icon-fresh"
        case iconKept = "icon-kept"
        case iconRetired = "icon-retired"
        case iconEvicted = "icon-evicted"
        case generationPublished = "generation-published"
        case publicationFailed = "publication-failed"
        case downloadsBlocked = "downloads-blocked"
        case downloadsUnblocked = "downloads-unblocked"
        case paused
        case resumed
        case pinned
        case unpinned
        case evictionHeld = "eviction-held"
        case evictionSuspended = "eviction-suspended"
        case evictionActive = "eviction-active"
        case cacheHealed = "cache-healed"
        case stateReplaced = "state-replaced"
        case configurationReloaded = "configuration-reloaded"
        case configurationRejected = "configuration-rejected"
        case upstreamFresh = "upstream-fresh"
        case upstreamStale = "upstream-stale"
        case upstreamBroken = "upstream-broken"
        case upstreamRefused = "upstream-refused"
        case purged
        case purgeFailed = "purge-failed"
        /// Events are missing; only readers get it, see ``EventGap``.
        case gap

        /// Whether there may be as many at once as there are icons, and the state of each icon tells the same.
        package var isOfIcon: Bool {
            switch self {
            case .iconReady, .iconChanged, .iconFailed, .iconStale, .iconFresh, .iconKept, .iconRetired, .iconEvicted:
                true
            default: false
            }
        }
    }

    package var kind: Kind {
        switch self {
        case .agentStarted: .agentStarted
        case .agentStopping: .agentStopping
        case .listAccepted: .listAccepted
        case .listRejected: .listRejected
        case .listKept: .listKept
        case .listRemoved: .listRemoved
        case .iconReady: .iconReady
        case .iconChanged: .iconChanged
        case .iconFailed: .iconFailed
        case .iconStale: .iconStale
        case .iconFresh: .iconFresh
        case .iconKept: .iconKept
        case .iconRetired: .iconRetired
        case .iconEvicted: .iconEvicted
        case .generationPublished: .generationPublished
        case .publicationFailed: .publicationFailed
        case .downloadsBlocked: .downloadsBlocked
        case .downloadsUnblocked: .downloadsUnblocked
        case .paused: .paused
        case .resumed: .resumed
        case .pinned: .pinned
        case .unpinned: .unpinned
        case .evictionHeld: .evictionHeld
        case .evictionSuspended: .evictionSuspended
        case .evictionActive: .evictionActive
        case .cacheHealed: .cacheHealed
        case .stateReplaced: .stateReplaced
        case .configurationReloaded: .configurationReloaded
        case .configurationRejected: .configurationRejected
        case .upstreamChanged(_, let state, _):
            switch state {
            case .fresh, .unknown: .upstreamFresh
            case .stale: .upstreamStale
            case .broken: .upstreamBroken
            case .refused: .upstreamRefused
            }
        case .purged: .purged
        case .purgeFailed: .purgeFailed
        }
    }

    // MARK: What it is about

    /// The list that it is about; `nil` if it is about none.
    package var list: ListName? {
        switch self {
        case .listAccepted(let name, _, _), .listRejected(let name, _), .listKept(let name, _), .listRemoved(let name):
            name
        default: nil
        }
    }

    /// The icon that it is about; `nil` if it is about none.
    package var url: IconURL? {
        switch self {
        case .iconReady(let url, _, _), .iconChanged(let url, _, _), .iconFailed(let url, _), .iconStale(let url, _),
            .iconFresh(let url), .iconKept(let url, _), .iconRetired(let url), .iconEvicted(let url), .pinned(let url),
            .unpinned(let url):
            url
        default: nil
        }
    }

    /// The generation that it is about; `nil` if it is about none.
    package var generation: Int? {
        switch self {
        case .iconReady(_, _, let generation): generation
        case .iconChanged(_, _, let generation), .generationPublished(let generation, _, _, _): generation
        default: nil
        }
    }

    /// The stable word for the reason; `nil` if there is none to tell.
    package var code: String? {
        switch self {
        case .listRejected(_, let rejection), .listKept(_, let rejection): "\(rejection.code)"
        case .iconFailed(_, let failure), .iconStale(_, let failure): failure.code.rawValue
        case .publicationFailed(_, let isInDoubt): isInDoubt ? "in-doubt" : nil
        case .downloadsBlocked(let code, _): code.rawValue
        case .cacheHealed(let repair, _): repair.rawValue
        case .stateReplaced(let loss, _): loss.rawValue
        default: nil
        }
    }
}
