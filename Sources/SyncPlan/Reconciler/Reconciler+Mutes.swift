// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HTTPRules
package import Reports

/// A URL or list whose failures do not count.
package struct Mute: Codable, Equatable, Sendable {
    package var target: MuteTarget
    /// When the mute ends by itself; `nil` if it does not.
    package var until: Timestamp?
    package internal(set) var since: Timestamp?

    package init(_ target: MuteTarget, until: Timestamp? = nil) { (self.target, self.until) = (target, until) }
}

typealias Mutes = LapsingTable<Mute>

extension Mute: Lapsing {
    var key: MuteTarget { target }
}

// Mutes change what is reported, never what is downloaded.
extension Reconciler {
    /// The most mutes: all of them are stored whenever a single value changes.
    package static let mostMutes = 1000

    /// The reason why a URL or list cannot be muted, as a clause; `nil` if it can.
    package func flaw(inMute target: MuteTarget) -> String? {
        guard !target.text.isEmpty else { return "it has no text" }
        guard target.text.utf8.count <= AgentEvent.longestURL else {
            return "longer than \(AgentEvent.longestURL) bytes: mute its list"
        }
        guard mutes.count >= Self.mostMutes, mutes[target] == nil else { return nil }
        return "\(Self.mostMutes) URLs and lists are muted, which is the limit: mute whole lists"
    }

    mutating func mute(_ target: MuteTarget, _ isMuted: Bool, until: Timestamp?) {
        guard isMuted else { return emitEnd(of: mutes.end(target)) }
        // Other clients may have added the last mutes that were allowed since this client checked.
        guard flaw(inMute: target) == nil else { return }
        mutes.begin(Mute(target, until: until), at: turn.now)
        turn.emit(.muted(target))
    }

    mutating func emitEnd(of ended: [Mute]) { for mute in ended { turn.emit(.unmuted(mute.target)) } }

    /// Everything that is muted; `error` is the reason why the last change is not stored.
    package func muteReport(error: String? = nil) -> MuteReport {
        MuteReport(mutes: mutes.all.map(reported), error: error)
    }

    /// The mutes that apply to an icon which these lists name; none if only some of its lists are muted.
    func reportedMutes(of url: IconURL, in lists: [ListName]) -> [MuteReport.Mute] {
        let others = lists.sorted().compactMap { mutes[.list($0)] }
        return ((others.count == lists.count ? others : []) + [mutes[.icon(url)]].compactMap(\.self)).map(reported)
    }

    private func reported(_ mute: Mute) -> MuteReport.Mute {
        MuteReport.Mute(mute.target, until: mute.until.map { "\($0 + turn.wallClock.offset)" })
    }

    /// For each outlook, the number of failed icons without an image, and since when the oldest stale icon is stale;
    /// O(*n*) in the number of failed icons and refreshes.
    package func failedIcons(now: Timestamp) -> [Outlook: FailedIcons] {
        let tally = book.catalog.tally
        var found: [Outlook: FailedIcons] = [:]
        for url in [tally.failures, tally.refreshFailures].lazy.flatMap(\.values).flatMap(\.urls) {
            guard let icon = book.catalog.icons[url], let failure = icon.failure else { continue }
            let outlook: Outlook =
                mutes.include(url, in: icon.lists) ? .muted : failure.isLasting ? .lasting : .temporary
            var icons = found[outlook] ?? (0, nil)
            if !icon.isStale {
                icons.failed += 1
            } else if case let end = icon.freshUntil, end > .distantPast, end <= icons.staleSince ?? now {
                icons.staleSince = end
            }
            found[outlook] = icons
        }
        return found
    }
}

extension Mutes {
    /// Whether an icon's failures do not count: its URL is muted, or each list that names it.
    func include(_ url: IconURL, in lists: [ListName]) -> Bool {
        self[.icon(url)] != nil || !lists.isEmpty && lists.allSatisfy { self[.list($0)] != nil }
    }
}

/// Whether a failure is likely to end by itself.
package enum Outlook: String, CaseIterable, Sendable {
    case temporary
    /// The failure lasts until somebody changes the list, the settings or the server.
    case lasting
    case muted
}

package typealias FailedIcons = (failed: Int, staleSince: Timestamp?)
