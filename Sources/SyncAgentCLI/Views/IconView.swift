// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules
import Reports
import SyncPlan

/// The output of `syncagent why` for people.
struct IconView {
    let report: IconReport
    let cache: String
    let now: Timestamp
    /// The width in columns; `nil` if unlimited.
    let width: Int?
    /// Whether the report was read from disk, because no agent answered.
    var isFromDisk = false
    /// The command for a full refresh, shown if a full refresh may bring another image.
    var fullRefresh: String?
    /// The command that retries a failed icon at once, for users who have removed the cause.
    var retry: String?

    var lines: [StyledText] {
        [StyledText(shown(report.url), .bold)]
            + entries.flatMap { title, text in
                StatusView.entry("  " + title, text, width: width, titleWidth: 13)
            }
    }

    private var entries: [(title: String, text: StyledText)] {
        var entries: [(title: String, text: StyledText)] = []
        func add(_ title: String, _ text: String?, _ style: Style? = nil) {
            guard let text else { return }
            entries.append((title, StyledText(RelativeTime.text(in: text, now: now), style)))
        }
        add("named by", names)
        add("key", report.key)
        add("state", report.state.text, style)
        add("image", report.path.map { "\(cache)/\($0)" })
        if let previous = report.previous {
            add("shown", "\(cache)/\(previous.path)", .yellow)
            let since = previous.since.map { ", since \($0)" } ?? ""
            add("", "the previous image of its app, from \(shown(previous.url, beside: report.url))\(since)")
        }
        for other in report.shownFor {
            let lists = other.lists.map(\.text).joined(separator: ", ")
            add("shown in", "\(lists), until \(shown(other.url, beside: report.url)) is downloaded", .yellow)
        }
        let sizes = report.renditions.map(\.size).joined(separator: ", ")
        if let failure = report.renderFailure {
            add("rendered", "no: \(failure.code.text): \(failure.message)", .yellow)
        } else if report.isRenderPending {
            add("rendered", sizes.isEmpty ? "not yet" : "\(sizes); others not yet", .yellow)
        } else if !sizes.isEmpty {
            add("rendered", sizes)
        }
        add("next", report.next)
        for hold in report.holds { add("waiting", "\(hold.reason) [\(hold.code)]", .yellow) }
        add("because", report.rule)
        add("from", report.source)
        for opinion in report.upstreams {
            add("upstream", "\(opinion.url): \(opinion.says)" + (opinion.obstacle.map { ", \($0)" } ?? ""))
        }
        add("evicted", report.eviction)
        for (index, hop) in report.trail.enumerated() { add(index == 0 ? "requests" : "", Self.text(of: hop)) }
        if let failure = report.failure {
            let times =
                switch failure.attempts {
                case 0: ""
                case 1: "once, "
                case let attempts: "\(grouped(attempts)) times in a row, "
                }
            add("failed", "\(times)\(failure.code): \(failure.message)", .red)
        }
        add("stale", report.stale)
        for mute in report.mutes ?? [] { add("muted", mute.text) }
        if let response = report.response {
            add("received", RelativeTime.past(response.received, now: now))
            add("ETag", response.etag)
            add("modified", response.lastModified)
            add("freshness", response.freshness)
        }
        if let origin = report.origin {
            let failures = origin.failures == 0 ? "" : ", \(counted(origin.failures, "failure")) in a row"
            add("origin", origin.name + failures + (origin.waitsUntil.map { ", no request until \($0)" } ?? ""))
        }
        if mayBeOutdated { add("outdated?", fullRefresh) }
        if mayBeRetried { add("mended?", retry) }
        if isFromDisk { add("source", "read from disk: no agent responded, so details may be missing") }
        return entries
    }

    /// Whether a failed icon is requested again, so that a user can have that done at once.
    private var mayBeRetried: Bool {
        guard report.state.known == .failed, !isFromDisk, let failure = report.failure else { return false }
        return failure.nextAttempt != nil || failure.code == FetchFailure.Code.fetch(.overLimit).rawValue
    }

    /// Whether the image counts as current only because its server said so, which may be wrong.
    ///
    /// False without a running agent, which a full refresh needs, and for an image from an upstream, which it cannot
    /// change.
    private var mayBeOutdated: Bool {
        report.state.known == .ready && report.response != nil && report.failure == nil && report.stale == nil
            && report.source == nil && !isFromDisk
    }

    private var names: String {
        guard !report.lists.isEmpty else { return "no list" }
        return report.lists.map { $0 == Reconciler.pinList ? "a pin (syncagent pin)" : $0.text }.joined(separator: ", ")
    }

    private var style: Style? {
        switch report.state.known {
        case .ready: .green
        case .failed: .red
        case .pending: .yellow
        case .retired, nil: nil
        }
    }

    /// A hop and its result: `https://a.example/x.png: 302, through the proxy p.example:3128`.
    private static func text(of hop: FetchTrail.Hop) -> String {
        "\(hop.url): \(hop.status.map(String.init) ?? "no response")"
            + (hop.allowedBy.map { ", allowed by \($0)" } ?? "") + (hop.proxy.map { ", through the proxy \($0)" } ?? "")
            + (hop.credential.map { ", with a credential (\($0))" } ?? "")
    }
}
