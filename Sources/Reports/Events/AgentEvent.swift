// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

/// A change that matters to users, written to the event journal and the log.
///
/// It holds values; its sentence (``message``) is made when it is written.
package enum AgentEvent: Equatable, Sendable {
    case agentStarted(version: String)
    case agentStopping
    case listAccepted(ListName, apps: Int, problems: Int)
    /// A file is rejected, and no version of the list is in force.
    case listRejected(ListName, ListRejection)
    /// A file is rejected, and the last good version of the list stays in force.
    case listKept(ListName, ListRejection)
    case listRemoved(ListName)
    /// An icon has its first image since this generation; or a list names a retired icon again.
    case iconReady(IconURL, bytes: Int, generation: Int?)
    /// An icon has a new image since this generation.
    case iconChanged(IconURL, bytes: Int, generation: Int)
    case iconFailed(IconURL, RepeatedFailure)
    /// The image of a ready icon could not be refreshed; it stays.
    case iconStale(IconURL, RepeatedFailure)
    /// The image of a stale icon was refreshed, and is unchanged.
    case iconFresh(IconURL)
    /// An app has a new icon URL, and shows the previous image until the new one is downloaded.
    case iconKept(IconURL, previous: IconURL)
    case iconRetired(IconURL)
    case iconEvicted(IconURL)
    /// A ready icon cannot be rendered in other sizes.
    case iconNotRendered(IconURL, RenderFailure)
    /// A generation is in force, with so many new list documents and images; `endsFailure` after failed publications.
    case generationPublished(Int, lists: Int, images: Int, endsFailure: Bool)
    /// A publication failed; or it succeeded but may not survive a power failure (`isInDoubt`).
    case publicationFailed(reason: String, isInDoubt: Bool)
    case downloadsBlocked(Shortage.Code, reason: String)
    case downloadsUnblocked
    /// Nothing is rendered, or renditions get no names.
    case renderingBlocked(reason: String)
    case renderingUnblocked
    case paused
    case resumed
    case pinned(IconURL)
    case unpinned(IconURL)
    case muted(MuteTarget)
    /// A user unmuted it, or its time is over.
    case unmuted(MuteTarget)
    case evictionHeld(reason: String)
    case evictionSuspended(reason: String)
    case evictionActive
    /// Something in the cache folder was missing or damaged, and is being repaired.
    case cacheHealed(Repair, summary: String)
    /// A new state database was created; `isKnown` if the agent still has the old content and stores it again.
    case stateReplaced(StateLoss, isKnown: Bool)
    /// The configuration was reloaded; `changed` names the settings with new values.
    case configurationReloaded(changed: [String])
    case configurationRejected(reason: String)
    /// An upstream changed its state; the reason is empty if nothing is wrong.
    case upstreamChanged(UpstreamURL, StatusReport.Upstream.State, reason: String)
    case purged
    case purgeFailed(PurgeReport)
}

extension AgentEvent {
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
        case iconNotRendered = "icon-not-rendered"
        case generationPublished = "generation-published"
        case publicationFailed = "publication-failed"
        case downloadsBlocked = "downloads-blocked"
        case downloadsUnblocked = "downloads-unblocked"
        case renderingBlocked = "rendering-blocked"
        case renderingUnblocked = "rendering-unblocked"
        case paused
        case resumed
        case pinned
        case unpinned
        case muted
        case unmuted
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
        /// Events are missing; only sent to readers, see ``EventGap``.
        case gap

        /// Whether the event is about one icon: there can be as many of these as icons, whose states show the same.
        package var isOfIcon: Bool {
            switch self {
            case .iconReady, .iconChanged, .iconFailed, .iconStale, .iconFresh, .iconKept, .iconRetired, .iconEvicted,
                .iconNotRendered:
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
        case .iconNotRendered: .iconNotRendered
        case .generationPublished: .generationPublished
        case .publicationFailed: .publicationFailed
        case .downloadsBlocked: .downloadsBlocked
        case .downloadsUnblocked: .downloadsUnblocked
        case .renderingBlocked: .renderingBlocked
        case .renderingUnblocked: .renderingUnblocked
        case .paused: .paused
        case .resumed: .resumed
        case .pinned: .pinned
        case .unpinned: .unpinned
        case .muted: .muted
        case .unmuted: .unmuted
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

    // MARK: Subject

    package var list: ListName? {
        switch self {
        case .listAccepted(let name, _, _), .listRejected(let name, _), .listKept(let name, _), .listRemoved(let name),
            .muted(.list(let name)), .unmuted(.list(let name)):
            name
        default: nil
        }
    }

    package var url: IconURL? {
        switch self {
        case .iconReady(let url, _, _), .iconChanged(let url, _, _), .iconFailed(let url, _), .iconStale(let url, _),
            .iconFresh(let url), .iconKept(let url, _), .iconRetired(let url), .iconEvicted(let url),
            .iconNotRendered(let url, _), .pinned(let url), .unpinned(let url), .muted(.icon(let url)),
            .unmuted(.icon(let url)):
            url
        default: nil
        }
    }

    package var generation: Int? {
        switch self {
        case .iconReady(_, _, let generation): generation
        case .iconChanged(_, _, let generation), .generationPublished(let generation, _, _, _): generation
        default: nil
        }
    }

    package var code: String? {
        switch self {
        case .listRejected(_, let rejection), .listKept(_, let rejection): "\(rejection.code)"
        case .iconFailed(_, let failure), .iconStale(_, let failure): failure.code.rawValue
        case .iconNotRendered(_, let failure): failure.code.text
        case .publicationFailed(_, let isInDoubt): isInDoubt ? "in-doubt" : nil
        case .downloadsBlocked(let code, _): code.rawValue
        case .cacheHealed(let repair, _): repair.rawValue
        case .stateReplaced(let loss, _): loss.rawValue
        default: nil
        }
    }
}
