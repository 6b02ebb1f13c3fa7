// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan
import Synchronization

/// The progress of a sync: lists, icons, bytes, rate and time left.
struct SyncProgress {
    private struct Sample {
        var time: ContinuousClock.Instant
        var icons: Int
        var bytes: Int
    }

    private var start: Sample?
    private var newest: Sample?
    private var report = SyncReport()

    /// Records a report; one without lists means that the agent has not scanned yet.
    mutating func note(_ report: SyncReport, at time: ContinuousClock.Instant) {
        guard report.lists != nil else { return }
        let sample = Sample(time: time, icons: report.ready + report.failed, bytes: report.downloadedBytes ?? 0)
        if start == nil { start = sample }
        newest = sample
        self.report = report
    }

    /// A line of figures, and one on what the sync waits for.
    var lines: [StyledText] {
        guard let lists = report.lists, lists > 0 else { return ["Reading the lists folder"] }
        var parts: [String] = []
        if let published = report.publishedLists {
            parts.append("\(grouped(published)) of \(counted(lists, "list"))")
        }
        let total = report.ready + report.failed + report.pending
        parts.append("\(grouped(report.ready + report.failed)) of \(counted(total, "icon"))")
        if let bytes = newestBytes, bytes > 0 { parts.append(ByteCount(bytes).rounded) }
        if let rate { parts.append("\(ByteCount(rate).rounded)/s") }
        if let left = secondsLeft { parts.append("\(RelativeTime.length(left)) left") }
        var line = StyledText(parts.joined(separator: ", "))
        if report.failed > 0 { line += ", " + StyledText("\(grouped(report.failed)) failed", .red) }
        return [line] + (report.hold.map { [StyledText("Waiting: \($0)", .yellow)] } ?? [])
    }

    private var newestBytes: Int? {
        guard let start, let newest else { return nil }
        return newest.bytes - start.bytes
    }

    private var seconds: Double? {
        guard let start, let newest else { return nil }
        let seconds = (newest.time - start.time) / .seconds(1)
        return seconds >= 1 ? seconds : nil
    }

    /// Bytes per second, after the first second.
    private var rate: Int? {
        guard let seconds, let bytes = newestBytes, bytes > 0 else { return nil }
        return Int(Double(bytes) / seconds)
    }

    private var secondsLeft: Int64? {
        guard let seconds, let start, let newest, report.pending > 0, report.hold == nil, newest.icons > start.icons
        else { return nil }
        return Int64((Double(report.pending) * seconds / Double(newest.icons - start.icons)).rounded(.up))
    }
}

/// Shows a sync's progress: redrawn on a terminal, else a line every 10 s.
final class SyncProgressDisplay: Sendable {
    private struct State {
        var progress = SyncProgress()
        /// When lines were last written that cannot be redrawn.
        var last = ContinuousClock.now
    }

    private static let pace: Duration = .seconds(10)

    let display: LiveDisplay
    private let state = Mutex(State())

    init(on screen: Screen) {
        display = LiveDisplay(on: screen)
    }

    func show(_ report: SyncReport) {
        let lines: [StyledText]? = state.withLock { state in
            let now = ContinuousClock.now
            state.progress.note(report, at: now)
            guard !report.isDone else { return nil }
            guard !display.isLive else { return state.progress.lines }
            guard now - state.last >= Self.pace else { return nil }
            state.last = now
            return state.progress.lines
        }
        guard let lines else { return }
        if display.isLive { return display.show(lines) }
        for line in lines { Message.error(line.plain) }
    }

    func clear() { display.clear() }
}
