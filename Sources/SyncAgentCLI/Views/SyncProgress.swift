// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
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
    mutating func record(_ report: SyncReport, at time: ContinuousClock.Instant) {
        guard report.lists != nil else { return }
        let sample = Sample(time: time, icons: report.ready + report.failed, bytes: report.downloadedBytes ?? 0)
        if start == nil { start = sample }
        newest = sample
        self.report = report
    }

    /// A line of figures, and one on what the sync waits for; rates follow after the first second.
    var lines: [StyledText] {
        guard let lists = report.lists, lists > 0, let start, let newest else { return ["Reading the lists folder"] }
        let (icons, bytes) = (newest.icons - start.icons, newest.bytes - start.bytes)
        let seconds = (newest.time - start.time) / .seconds(1)
        var parts: [String] = []
        if let published = report.publishedLists { parts.append("\(grouped(published)) of \(counted(lists, "list"))") }
        parts.append("\(grouped(newest.icons)) of \(counted(newest.icons + report.pending, "icon"))")
        if bytes > 0 { parts.append(ByteCount(bytes).rounded) }
        if bytes > 0, seconds >= 1 { parts.append("\(ByteCount(Int(Double(bytes) / seconds)).rounded)/s") }
        if icons > 0, seconds >= 1, report.pending > 0, report.hold == nil {
            let left = (Double(report.pending) * seconds / Double(icons)).rounded(.up)
            parts.append("\(RelativeTime.length(Int64(left))) left")
        }
        var line = StyledText(parts.joined(separator: ", "))
        if report.failed > 0 { line += ", " + StyledText("\(grouped(report.failed)) failed", .red) }
        return [line] + (report.hold.map { [StyledText("Waiting: \($0)", .yellow)] } ?? [])
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
            state.progress.record(report, at: now)
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
