// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules

extension AgentEvent {
    /// What happened, as a sentence; the subject is given beside it.
    package var message: String {
        switch self {
        case .agentStarted(let version): "syncagent \(version) started."
        case .agentStopping: "The agent is stopping."
        case .listAccepted(_, let apps, 0): "Accepted: \(counted(apps, "app"))."
        case .listAccepted(_, let apps, let problems):
            "Accepted: \(counted(apps, "app")); \(counted(problems, "problem")) in other entries, which are ignored."
        case .listRejected(_, let rejection): "Rejected: \(rejection.message) No version of this list is in force."
        case .listKept(_, let rejection): "Rejected: \(rejection.message) The last good version stays in force."
        case .listRemoved: "Removed from the lists folder."
        case .iconReady(_, let bytes, .some): "Downloaded: \(counted(bytes, "byte"))."
        case .iconReady: "Named by a list again: the image on disk is ready."
        case .iconChanged(_, let bytes, _): "Replaced by a new image: \(counted(bytes, "byte"))."
        case .iconFailed(_, let failure): "Not downloaded: \(Self.clause(failure))"
        case .iconStale(_, let failure): "Not refreshed: \(Self.clause(failure)) The image on disk stays."
        case .iconFresh: "Refreshed after failures: the image on disk is current."
        case .iconKept: "Its app has a new URL. The previous image is shown until the new one is downloaded."
        case .iconRetired: "No longer in use. The image stays on disk until it is evicted."
        case .iconEvicted: "Evicted: no longer in use."
        case .iconNotRendered(_, let failure): "Not rendered: \(failure.message). The original image stays in use."
        case .generationPublished(_, let lists, let images, let endsFailure):
            "Published\(endsFailure ? " after failures" : ""): \(counted(lists, "list document")), "
                + "\(counted(images, "new image"))."
        case .publicationFailed(let reason, isInDoubt: true):
            "Published, but may not survive a power failure: \(reason)."
        case .publicationFailed(let reason, isInDoubt: false):
            "Publishing failed: \(reason). The previous generation stays in force."
        case .downloadsBlocked(_, let reason): "Waiting for disk space or another resource: \(reason)."
        case .downloadsUnblocked: "Disk space and resources are sufficient again."
        case .renderingBlocked(let reason): "Rendering is blocked: \(reason)."
        case .renderingUnblocked: "Rendering works again."
        case .paused: "Downloads are paused."
        case .resumed: "Downloads are resumed."
        case .pinned: "Pinned."
        case .unpinned: "Unpinned."
        case .muted: "Muted: its failures do not count for the status and alerts."
        case .unmuted: "Unmuted: its failures count."
        case .evictionHeld(let reason): "Eviction is held: \(reason)."
        case .evictionSuspended(let reason): "Eviction is suspended: \(reason)."
        case .evictionActive: "Eviction is active again."
        case .cacheHealed(.missingFiles, let summary): "Missing from the cache and being restored: \(summary)."
        case .cacheHealed(.damagedImages, let summary): "Damaged on disk and being restored: \(summary)."
        case .cacheHealed(.otherFolder, let summary): "Another cache folder took the place of the old one: \(summary)."
        case .stateReplaced(.damaged, isKnown: true):
            "The state database was damaged and set aside. Everything is stored again in a new one."
        case .stateReplaced(.damaged, isKnown: false):
            "The state database was damaged and set aside. A new one has no validators, retry times and pause, and "
                + "grace periods start over."
        case .stateReplaced(.removed, _):
            "The state database was removed while the agent ran. Everything is stored again in a new one."
        case .configurationReloaded(let changed):
            changed.isEmpty
                ? "Configuration reloaded: nothing changed."
                : "Configuration reloaded. Changed: \(changed.joined(separator: ", "))."
        case .configurationRejected(let reason):
            "The new configuration is rejected; the previous settings stay in force: \(reason)"
        case .upstreamChanged(let url, .fresh, _), .upstreamChanged(let url, .unknown, _):
            "The upstream \(url) is in use: its manifest is accepted."
        case .upstreamChanged(let url, .stale, let reason):
            "The upstream \(url) is stale: \(reason). Its images are still used."
        case .upstreamChanged(let url, .broken, let reason):
            "The upstream \(url) fails and gets no requests for a while: \(reason)."
        case .upstreamChanged(let url, .refused, let reason): "The upstream \(url) is refused: \(reason)."
        case .purged: PurgeReport(.done).sentence
        case .purgeFailed(let report): report.sentence
        }
    }

    private static func clause(_ failure: RepeatedFailure) -> String {
        let next =
            failure.nextAttemptText.map { "The next attempt is at \($0)." }
            ?? "It is not retried until its list or the settings change."
        return "\(failure.message). \(next)"
    }
}

extension RepeatedFailure {
    /// The time of the next attempt, rounded up to whole seconds, so that the text never names a time that has passed.
    package var nextAttemptText: String? {
        nextAttempt.map { "\($0.inWholeSeconds < $0 ? $0 + .seconds(1) : $0)" }
    }
}
