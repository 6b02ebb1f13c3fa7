// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Reports

/// The output of `syncagent status` for people: verdict, problems, lists and figures.
struct StatusView {
    let report: StatusReport
    let context: CommandContext
    let now: Timestamp
    /// The width in columns; `nil` if unlimited.
    let width: Int?

    /// The number of rows that the status should fit into if the caller gives none.
    private static let usualHeight = 24
    private static let mostInFull = 3

    var lines: [StyledText] { lines(atMost: nil) }

    /// The lines of the status, fitted into a height.
    ///
    /// At most three problems are shown in full, and each other problem on one line.
    ///
    /// If the lines exceed the height, fewer problems are shown in full. If a height was given, lists without problems
    /// are left out next, then all problems but the first, then the cause of the first.
    func lines(atMost height: Int?) -> [StyledText] {
        let problems = report.problems(for: context)
        let full = problems.map { [""] + Self.lines(of: $0, now: now, width: width) }
        let end: [StyledText] = [""] + figures.flatMap { Self.entry($0.title, $0.text, width: width) }
        func all(_ shown: [StyledText], cuttingListsTo least: Int? = nil) -> [StyledText] {
            let left = height.map { $0 - rows(of: verdict + shown + end) }
            return verdict + shown + table(atMost: least.map { max(left ?? .max, $0) }) + end
        }
        for kept in stride(from: min(problems.count, Self.mostInFull), to: 1, by: -1) {
            let lines = all(full.prefix(kept).joined() + brief(problems.dropFirst(kept)))
            if rows(of: lines) <= height ?? Self.usualHeight { return lines }
        }
        let (first, rest) = (full.first ?? [], problems.dropFirst())
        let lines = all(first + brief(rest))
        guard let height, rows(of: lines) > height else { return lines }
        for count in stride(from: rest.count, through: 0, by: -1) {
            let lines = all(first + brief(rest, atMost: count), cuttingListsTo: 6)
            if rows(of: lines) <= height { return lines }
        }
        // Leave out the cause of the first problem last: its commands show it.
        let short = first.prefix(2) + first.suffix(problems.first?.commands.count ?? 0)
        let fitting = [first, Array(short)].map { all($0 + brief(rest, atMost: 0), cuttingListsTo: 4) }
        return fitting.first { rows(of: $0) <= height } ?? fitting[1]
    }

    /// The number of rows that lines take on the terminal, which wraps long commands.
    private func rows(of lines: [StyledText]) -> Int {
        guard let width, width > 0 else { return lines.count }
        return lines.reduce(0) { $0 + max(($1.width + width - 1) / width, 1) }
    }

    /// A line for each problem with the command that explains it; beyond `count`, a line with the number of others.
    private func brief(_ problems: ArraySlice<StatusProblem>, atMost count: Int = .max) -> [StyledText] {
        guard let first = problems.first else { return [] }
        let lines = problems.prefix(count).map { problem in
            let cause = problem.detail.map { RelativeTime.text(in: ": \($0)", now: now) } ?? ""
            let line = Self.headline(of: problem, now: now) + StyledText(cause, .dim)
            return width.map { line.truncated(to: $0) } ?? line
        }
        let left = problems.count - lines.count
        let end =
            left == 0
            ? "  " + StyledText("$ syncagent explain \(first.code)", .bold)
            : StyledText("… \(left) more: enlarge the terminal, or run syncagent status | less", .dim)
        return (lines.isEmpty ? [] : [""]) + lines + [end]
    }

    /// The table of lists below an empty line; if it must be cut, lists without problems are left out first.
    private func table(atMost height: Int?) -> [StyledText] {
        guard !report.lists.isEmpty else { return [] }
        let whole: [StyledText] = [""] + Self.table(of: report.lists).lines(fitting: width)
        // The least table: an empty line, the titles, one list, and the number of lists left out.
        guard let height, whole.count > height else { return whole }
        let rows = max(height - 3, 1)
        let isBad = { (list: StatusReport.List) in list.state != .ok || list.failed > 0 }
        let lists = report.lists.filter(isBad) + report.lists.filter { !isBad($0) }
        let left = StyledText("… \(counted(lists.count - rows, "more list")): syncagent list", .dim)
        return [""] + Self.table(of: Array(lists.prefix(rows))).lines(fitting: width) + [left]
    }

    /// The verdict, and the command that starts a stopped agent.
    private var verdict: [StyledText] {
        let verdict = report.verdict(for: context)
        let style: Style =
            switch verdict.level {
            case .ok where report.unmutedStale > 0: .boldYellow
            case .ok: .boldGreen
            case .busy, .stopped: .boldYellow
            case .problem: .boldRed
            }
        let start = verdict.command.map { [StyledText("  $ " + $0, .bold)] } ?? []
        return StyledText(verdict.sentence, style).wrapped(to: width) + start
    }

    // MARK: Problems

    private static func headline(of problem: StatusProblem, now: Timestamp) -> StyledText {
        let title = StyledText(problem.code, problem.severity == .problem ? .red : .yellow)
        let kind: StyledText = problem.severity == .problem ? ": " : " (notice): "
        return title + kind + StyledText(RelativeTime.text(in: problem.sentence, now: now))
    }

    /// A problem with its cause, what to do, an example and the commands to type next, each on its own lines.
    static func lines(of problem: StatusProblem, now: Timestamp, width: Int?) -> [StyledText] {
        let example = problem.example.flatMap { name in
            // The example is left out if a command, the sentence or the cause names it.
            let isNamed =
                problem.commands.contains { $0.contains(bytes: " " + ShellWord.quoted(name)) }
                || [problem.sentence, problem.detail ?? ""].contains { $0.contains(bytes: name) }
            return isNamed ? nil : StyledText(problem.count > 1 ? "such as \(name)" : name, .dim)
        }
        let detail = problem.detail.map { StyledText(RelativeTime.text(in: $0, now: now), .dim) }
        let texts = [detail, problem.remedy.map { StyledText($0) }, example].compactMap(\.self)
        let commands = problem.commands.map { StyledText("$ " + $0, .bold) }
        let below = texts.flatMap { $0.wrapped(to: width.map { $0 - 2 }) } + commands
        return headline(of: problem, now: now).wrapped(to: width) + below.map { "  " + $0 }
    }

    // MARK: Lists

    static func table(of lists: [StatusReport.List]) -> Table {
        // Columns with a count other than 0 are left out last.
        let pending = lists.contains { $0.pending > 0 } ? 5 : 1
        let failed = lists.contains { $0.failed > 0 } ? 6 : 2
        var table = Table(
            .init("LIST", least: 12), "STATE", .init("APPS", isNumber: true, rank: 3),
            .init("READY", isNumber: true, rank: 4), .init("PENDING", isNumber: true, rank: pending),
            .init("FAILED", isNumber: true, rank: failed))
        for list in lists.sorted(by: { NaturalName($0.name.text) < NaturalName($1.name.text) }) {
            table.add(
                StyledText(list.name.text), state(of: list) + (list.muted == true ? ", muted" : ""),
                StyledText(grouped(list.apps)), StyledText(grouped(list.ready)), StyledText(grouped(list.pending)),
                StyledText(grouped(list.failed), list.failed > 0 ? .red : nil))
        }
        return table
    }

    /// The state of a list in a few words, including failures.
    private static func state(of list: StatusReport.List) -> StyledText {
        let failures = list.failed > 0 ? "\(grouped(list.failed)) failed" : ""
        switch list.state.known {
        case .ok where list.failed > 0: return StyledText(failures, .red)
        case .ok where list.pending > 0: return StyledText("\(grouped(list.pending)) pending", .yellow)
        case .ok: return StyledText("ok", .green)
        default: return StyledText(list.state.text + (failures.isEmpty ? "" : ", " + failures), .red)
        }
    }

    // MARK: Figures

    /// A title and its text, wrapped in a column of its own.
    static func entry(_ title: String, _ text: StyledText, width: Int?, titleWidth: Int = 11) -> [StyledText] {
        let head = StyledText(title, .dim).padded(to: titleWidth)
        guard let width else { return [head + text] }
        guard width >= 60 else {
            let indent = StyledText(String(title.prefix { $0 == " " }) + "  ")
            return [StyledText(title, .dim)] + text.wrapped(to: width - indent.width).map { indent + $0 }
        }
        return text.wrapped(to: width - titleWidth).enumerated().map { number, line in
            (number == 0 ? head : StyledText("").padded(to: titleWidth)) + line
        }
    }

    private var figures: [(title: String, text: StyledText)] {
        let (icons, downloads) = (report.icons, report.downloads)
        let counts =
            ["\(grouped(icons.ready)) ready"] + Self.parts((icons.pending, "pending"), (icons.failed, "failed"))
        let previous = icons.previous
        let others = Self.parts(
            (icons.stale, "stale"), (previous, "with \(previous == 1 ? "its" : "their") previous image"),
            (icons.retired, "retired"))
        let shownIcons =
            "\(grouped(icons.referenced)) referenced: " + counts.joined(separator: ", ")
            + (others.isEmpty ? "" : "; " + others.joined(separator: ", "))
        var figures: [(String, StyledText)] = [("icons", StyledText(shownIcons))]
        if report.state == .running || report.state == .paused, report.reachable {
            // Downloads that wait for their origin are pending icons, which are counted already.
            let held = downloads.origins.reduce(0) { $0 + $1.icons }
            let parts = Self.parts(
                (downloads.active, "in progress"), (downloads.queued, "queued"), (downloads.blocked, "blocked"),
                (downloads.waiting - held, "to be retried later\(icons.stale > 0 ? ", refreshes included" : "")"))
            figures.append(("downloads", StyledText(parts.isEmpty ? "none" : parts.joined(separator: ", "))))
        }
        let size = ByteCount(report.cache.bytes).rounded
        let cache = "\(counted(report.cache.images, "image")), \(size), in \(context.cache ?? "the cache folder")"
        figures.append(("cache", StyledText(cache)))
        if let renditions = report.renditions {
            let parts = Self.parts((renditions.pending, "pending"), (renditions.failed, "cannot be rendered"))
            let text = ["\(counted(renditions.ready, "image")) rendered"] + parts
            figures.append(("renditions", StyledText(text.joined(separator: ", "))))
        }
        if let generation = report.generation, let published = report.published {
            let time = RelativeTime.past(published, now: now)
            // With failed or pending icons, “in sync” would be misleading.
            let isDone = !report.hasFailures && icons.pending == 0
            let sync = report.inSync ? (isDone ? ", in sync" : "") : ", not in sync"
            figures.append(("generation", StyledText("\(grouped(generation)), published \(time)\(sync)")))
        } else if report.publication.error == nil {
            figures.append(("generation", "nothing has been published yet"))
        }
        return figures + upstreams + [("agent", StyledText(agent))]
    }

    /// The counts other than zero, each with its word.
    private static func parts(_ counts: (number: Int, word: String)...) -> [String] {
        counts.filter { $0.number > 0 }.map { "\(grouped($0.number)) \($0.word)" }
    }

    private var upstreams: [(title: String, text: StyledText)] {
        report.upstreams.map { upstream in
            let generation = upstream.generation.map { ", generation \(grouped($0))" } ?? ""
            let published = upstream.published.map { ", published \(RelativeTime.past($0, now: now))" } ?? ""
            let next = upstream.nextPoll.map { ", next poll \($0)" } ?? ""
            let text = "\(upstream.url) is \(upstream.state)\(generation)\(published)\(next)"
            let style: Style? = upstream.needsAttention ? .red : upstream.state == .fresh ? nil : .yellow
            return ("upstream", StyledText(RelativeTime.text(in: text, now: now), style))
        }
    }

    private var agent: String {
        let process = report.pid.map { " (process \($0))" } ?? ""
        let state =
            switch report.state {
            case .running where !report.reachable: "is running, not reachable from here"
            case .unknown: "may be running"
            case .stopped: "is stopped; this was read from disk"
            case .running, .paused: "is \(report.state.rawValue)"
            }
        return "syncagent \(report.version) \(state)\(process)"
    }
}
