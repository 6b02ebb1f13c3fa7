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

    private static let barWidth = 40

    private var start: Sample?
    private var newest: Sample?
    private var report = SyncReport()
    /// The highest number of published lists so far: a list counts as unpublished again with each new icon, and the
    /// count must not go back.
    private var publishedLists = 0

    /// Records a report; ignores one without lists, because the agent has not scanned the folder yet.
    mutating func record(_ report: SyncReport, at time: ContinuousClock.Instant) {
        guard report.lists != nil else { return }
        let sample = Sample(time: time, icons: report.ready + report.failed, bytes: report.downloadedBytes ?? 0)
        if start == nil { start = sample }
        newest = sample
        self.report = report
        publishedLists = min(max(publishedLists, report.publishedLists ?? 0), report.lists ?? 0)
    }

    private var total: Int { report.ready + report.failed + report.pending }

    /// A bar with separate marks for failed icons; `nil` as long as no icon is known.
    var bar: StyledText? {
        guard total > 0 else { return nil }
        let done = Self.barWidth * (report.ready + report.failed) / total
        let failed = report.failed > 0 ? max(Self.barWidth * report.failed / total, min(done, 1)) : 0
        func cells(_ mark: String, _ count: Int, _ style: Style) -> StyledText {
            StyledText(String(repeating: mark, count: count), style)
        }
        return "[" + cells("#", done - failed, .green) + cells("x", failed, .red)
            + cells("-", Self.barWidth - done, .dim) + "]"
    }

    /// A line of figures, and one that says what the sync waits for; rates are shown after the first second.
    var lines: [StyledText] {
        guard let lists = report.lists, lists > 0, let start, let newest else { return ["Reading the lists folder"] }
        let (icons, bytes) = (newest.icons - start.icons, newest.bytes - start.bytes)
        let seconds = (newest.time - start.time) / .seconds(1)
        var line = StyledText(total > 0 ? "\((report.ready + report.failed) * 100 / total) %: " : "")
        if report.publishedLists != nil {
            line += StyledText("\(grouped(publishedLists)) of \(counted(lists, "list")), ")
        }
        line += StyledText("\(grouped(report.ready)) of \(counted(total, "icon")) ready")
        if report.failed > 0 { line += ", " + StyledText("\(grouped(report.failed)) failed", .red) }
        if bytes > 0 { line += StyledText(", \(ByteCount(bytes).rounded)") }
        if bytes > 0, seconds >= 1 { line += StyledText(", \(ByteCount(Int(Double(bytes) / seconds)).rounded)/s") }
        if icons > 0, seconds >= 1, report.pending > 0, report.hold == nil {
            let left = (Double(report.pending) * seconds / Double(icons)).rounded(.up)
            line += StyledText(", \(RelativeTime.length(Int64(left))) left")
        }
        return [line] + (report.hold.map { [StyledText("Waiting: \($0)", .yellow)] } ?? [])
    }
}

/// Shows a sync's progress: redrawn on a terminal, else at most a line a second while something changes.
final class SyncProgressDisplay: Sendable {
    private struct State {
        var progress = SyncProgress()
        /// When lines were last written to an output that cannot be redrawn.
        ///
        /// It starts 2 s ahead, so that a quick sync writes none.
        var last = ContinuousClock.now + .seconds(2)
    }

    private static let pace: Duration = .seconds(1)

    let display: LiveDisplay
    private let state = Mutex(State())

    init(on screen: Screen) {
        display = LiveDisplay(on: screen)
    }

    func show(_ report: SyncReport) {
        let progress: SyncProgress? = state.withLock { state in
            let now = ContinuousClock.now
            state.progress.record(report, at: now)
            guard !report.isDone, display.isLive || now - state.last >= Self.pace else { return nil }
            if !display.isLive { state.last = now }
            return state.progress
        }
        guard let progress else { return }
        if display.isLive { return display.show([progress.bar].compactMap(\.self) + progress.lines) }
        for line in progress.lines { Message.error(line.plain) }
    }

    func clear() { display.clear() }
}
