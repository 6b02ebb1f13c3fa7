// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import Fleet
package import HTTPRules

// One factory for each event: its kind, sentence, code and subject, and how it is logged.
extension AgentEvent {
    package static func agentStarted(version: String) -> Self { Self(.agentStarted, "syncagent \(version) started.") }
    package static var agentStopping: Self { Self(.agentStopping, "The agent is stopping.") }

    // MARK: Lists

    package static func listAccepted(_ list: ListName, apps: Int, problems: Int) -> Self {
        let parts = counted(problems, "entry or value", plural: "entries or values")
        let rest = problems == 0 ? "" : "; \(parts) \(problems == 1 ? "is" : "are") ignored"
        return Self(.listAccepted, "Accepted: \(counted(apps, "app"))\(rest).", list: list)
            .log(.info, "list accepted", ["apps": "\(apps)", "problems": "\(problems)"])
    }
    /// A list's file is rejected, and no version of the list is in force.
    package static func listRejected(_ list: ListName, _ rejection: ListRejection) -> Self {
        let message = "Rejected: \(rejection.message) No version of this list is in force."
        return Self(.listRejected, message, code: "\(rejection.code)", list: list)
            .log(.warning, "list rejected: it has no good version", ["reason": rejection.message])
    }
    /// A list's file is rejected, and the last good version of the list stays in force.
    package static func listKept(_ list: ListName, _ rejection: ListRejection) -> Self {
        let message = "Rejected: \(rejection.message) The last good version stays in force."
        return Self(.listKept, message, code: "\(rejection.code)", list: list)
            .log(.warning, "list rejected, keeping its last good version", ["reason": rejection.message])
    }
    package static func listRemoved(_ list: ListName) -> Self {
        Self(.listRemoved, "Removed from the lists folder.", list: list).log(.info, "list removed")
    }

    // MARK: Icons

    /// An icon has its first image since this generation; without a generation: a list names a retired icon again.
    package static func iconReady(_ url: IconURL, bytes: Int, generation: Int?) -> Self {
        generation == nil
            ? Self(.iconReady, "Named by a list: the image on disk is ready.", url: url)
            : Self(.iconReady, "Downloaded: \(counted(bytes, "byte")).", url: url, generation: generation)
    }
    /// An icon has a new image since this generation.
    package static func iconChanged(_ url: IconURL, bytes: Int, generation: Int) -> Self {
        Self(.iconChanged, "Replaced by a new image: \(counted(bytes, "byte")).", url: url, generation: generation)
    }
    package static func iconFailed(_ url: IconURL, _ failure: RepeatedFailure) -> Self {
        Self(.iconFailed, "Not downloaded: \(failure.clause)", code: failure.code.rawValue, url: url)
            .log(.warning, "icon not downloaded", failure.details)
    }
    /// The image of a ready icon could not be refreshed; it stays.
    package static func iconStale(_ url: IconURL, _ failure: RepeatedFailure) -> Self {
        let code = failure.code.rawValue
        return Self(.iconStale, "Not refreshed: \(failure.clause) The image on disk stays.", code: code, url: url)
            .log(.warning, "icon not refreshed: its image stays", failure.details)
    }
    /// The image of a stale icon was revalidated, and has not changed.
    package static func iconFresh(_ url: IconURL) -> Self {
        Self(.iconFresh, "Refreshed after failures: the image on disk is current.", url: url)
            .log(.info, "icon refreshed again")
    }
    /// An app has a new icon URL, and shows the previous image until the new one is downloaded.
    package static func iconKept(_ url: IconURL, previous: IconURL) -> Self {
        let message = "Its app has a new URL. The previous image is shown until the new one is downloaded."
        return Self(.iconKept, message, url: url, previous: previous)
    }
    package static func iconRetired(_ url: IconURL) -> Self {
        Self(.iconRetired, "No longer in use. The image stays on disk until it is evicted.", url: url)
    }
    package static func iconEvicted(_ url: IconURL) -> Self {
        Self(.iconEvicted, "Evicted: no longer in use.", url: url)
    }
    /// A ready icon cannot be rendered in other sizes.
    package static func iconNotRendered(_ url: IconURL, _ failure: RenderFailure) -> Self {
        let message = "Not rendered: \(failure.message). The original image stays in use."
        let level: Entry.Level = failure.code == .unsupported ? .info : .warning
        return Self(.iconNotRendered, message, code: failure.code.text, url: url)
            .log(level, "icon not rendered: the original stays in use", ["reason": failure.message])
    }

    // MARK: Publications and conditions

    /// A generation is in force.
    ///
    /// `lists` and `images` count its new documents and images; `endsFailure` if earlier attempts failed.
    package static func generationPublished(_ generation: Int, lists: Int, images: Int, endsFailure: Bool) -> Self {
        let beginning = endsFailure ? "Published after failures" : "Published"
        let event = Self(
            .generationPublished,
            "\(beginning): \(counted(lists, "list document")), \(counted(images, "new image")).",
            generation: generation, published: (lists, images))
        return endsFailure ? event.log(.notice, "publishing works again", ["generation": "\(generation)"]) : event
    }
    /// A publication failed; with `isInDoubt`, it succeeded but may not survive a power failure.
    package static func publicationFailed(reason: String, isInDoubt: Bool) -> Self {
        isInDoubt
            ? Self(.publicationFailed, "Published, but may not survive a power failure: \(reason).", code: "in-doubt")
                .log(.error, "generation may not be durable", ["reason": reason])
            : Self(.publicationFailed, "Publishing failed: \(reason). The previous generation stays in force.")
                .log(.error, "publication failed: the previous generation stays in force", ["reason": reason])
    }
    package static func downloadsBlocked(_ code: Shortage.Code, reason: String) -> Self {
        Self(.downloadsBlocked, "Waiting for disk space or another resource: \(reason).", code: code.rawValue)
            .log(.warning, "not enough disk space or resources", ["reason": reason])
    }
    package static var downloadsUnblocked: Self {
        Self(.downloadsUnblocked, "Disk space and resources are sufficient again.")
            .log(.notice, "enough disk space and resources again")
    }
    /// No image can be rendered, or renditions get no names in the cache folder.
    package static func renderingBlocked(reason: String) -> Self {
        Self(.renderingBlocked, "Rendering is blocked: \(reason).")
            .log(.warning, "rendering blocked", ["reason": reason])
    }
    package static var renderingUnblocked: Self {
        Self(.renderingUnblocked, "Rendering works again.").log(.notice, "rendering works again")
    }
    package static func evictionHeld(reason: String) -> Self {
        Self(.evictionHeld, "Eviction is held: \(reason).").log(.warning, "eviction held", ["reason": reason])
    }
    package static func evictionSuspended(reason: String) -> Self {
        Self(.evictionSuspended, "Eviction is suspended: \(reason).")
            .log(.warning, "eviction suspended", ["reason": reason])
    }
    package static var evictionActive: Self {
        Self(.evictionActive, "Eviction is active again.").log(.notice, "eviction active again")
    }
    /// The state of an upstream changed; the reason is empty if nothing is wrong.
    package static func upstreamChanged(
        _ url: UpstreamURL, _ state: StatusReport.Upstream.State, reason: String
    ) -> Self {
        let (kind, clause): (Kind, String) =
            switch state {
            case .fresh, .unknown: (.upstreamFresh, "is in use: its manifest is accepted")
            case .stale: (.upstreamStale, "is stale: \(reason). Its images are still used")
            case .broken: (.upstreamBroken, "fails and gets no requests for a while: \(reason)")
            case .refused: (.upstreamRefused, "is refused: \(reason)")
            }
        let event = Self(kind, "The upstream \(url) \(clause).")
        return state == .fresh
            ? event.log(.notice, "upstream in use", ["upstream": "\(url)"])
            : event.log(.warning, "upstream \(state.rawValue)", ["upstream": "\(url)", "reason": reason])
    }
    /// An image that the manifest of an upstream names did not arrive, and it is the first one.
    package static func upstreamUndelivered(_ url: UpstreamURL, _ failure: FetchFailure) -> Self {
        let message = "The upstream \(url) did not deliver an image that its manifest names: \(failure.message)."
        let details: KeyValuePairs = ["upstream": "\(url)", "code": "\(failure.code)", "reason": failure.message]
        return Self(.upstreamUndelivered, message, code: failure.code.rawValue)
            .log(.warning, "image not delivered by upstream", details)
    }

    // MARK: Commands

    package static var paused: Self { Self(.paused, "Downloads are paused.").log(.notice, "downloads paused") }
    package static var resumed: Self { Self(.resumed, "Downloads are resumed.").log(.notice, "downloads resumed") }
    package static func pinned(_ url: IconURL) -> Self { Self(.pinned, "Pinned.", url: url).log(.info, "icon pinned") }
    package static func unpinned(_ url: IconURL) -> Self {
        Self(.unpinned, "Unpinned.", url: url).log(.info, "icon unpinned")
    }
    package static func muted(_ target: MuteTarget) -> Self {
        let mute = MuteReport.Mute(target, until: nil)
        let message = "Muted: its failures do not count for the status and alerts."
        return Self(.muted, message, list: mute.list, url: mute.url)
            .log(.info, mute.list == nil ? "icon muted" : "list muted")
    }
    /// A user unmuted a list or an icon, or the mute's time is over.
    package static func unmuted(_ target: MuteTarget) -> Self {
        let mute = MuteReport.Mute(target, until: nil)
        return Self(.unmuted, "Unmuted: its failures count.", list: mute.list, url: mute.url)
            .log(.info, mute.list == nil ? "icon unmuted" : "list unmuted")
    }
    /// The configuration was reloaded; `changed` names the settings with new values.
    package static func configurationReloaded(changed: [String]) -> Self {
        let names = changed.joined(separator: ", ")
        let end = changed.isEmpty ? ": nothing changed." : ". Changed: \(names)."
        return Self(.configurationReloaded, "Configuration reloaded\(end)")
            .log(.notice, "configuration reloaded", ["changed": changed.isEmpty ? "nothing" : names])
    }
    package static func configurationRejected(reason: String) -> Self {
        let message = "The new configuration is rejected; the previous settings stay in force: \(reason)"
        return Self(.configurationRejected, message)
            .log(.error, "configuration rejected, keeping the old one", ["reason": reason])
    }
    package static var purged: Self { Self(.purged, PurgeReport(.done).sentence).log(.notice, "cache purged") }
    package static func purgeFailed(_ report: PurgeReport) -> Self {
        Self(.purgeFailed, report.sentence)
            .log(.error, "cache not purged", ["reason": report.reason ?? "", "files": "\(report.files)"])
    }

    // MARK: Damage

    package enum Repair: String, CaseIterable, Sendable {
        case missingFiles = "missing-files"
        case damagedImages = "damaged-images"
        case otherFolder = "other-folder"
    }
    /// Files in the cache folder were missing or damaged, and are being repaired.
    package static func cacheHealed(_ repair: Repair, summary: String) -> Self {
        let what =
            switch repair {
            case .missingFiles: "Missing from the cache and being restored"
            case .damagedImages: "Damaged on disk and being restored"
            case .otherFolder: "Another cache folder took the place of the old one"
            }
        return Self(.cacheHealed, "\(what): \(summary).", code: repair.rawValue)
            .log(.warning, "cache being restored", ["lost": summary])
    }
    /// The state database was replaced by a new one; with `isKnown`, the agent stores its content again.
    ///
    /// The event has no log line, because the store has logged it.
    package static func stateReplaced(_ loss: StateLoss, isKnown: Bool) -> Self {
        let what = loss == .damaged ? "damaged and set aside" : "removed while the agent ran"
        let end =
            isKnown || loss == .removed
            ? "Everything is stored again in a new one."
            : "A new one has no validators, retry times and pause, and grace periods start over."
        return Self(.stateReplaced, "The state database was \(what). \(end)", code: loss.rawValue)
    }
}

extension RepeatedFailure {
    /// The time of the next attempt, rounded up to whole seconds, so that the text never names a time that has passed.
    private var nextAttemptText: String? {
        nextAttempt.map { "\($0.inWholeSeconds < $0 ? $0 + .seconds(1) : $0)" }
    }

    fileprivate var clause: String {
        let next = nextAttemptText.map { "The next attempt is at \($0)." }
        return "\(message). \(next ?? "It is not retried until its list or the settings change.")"
    }

    fileprivate var details: KeyValuePairs<String, String> { ["reason": message, "next": nextAttemptText ?? "never"] }
}
