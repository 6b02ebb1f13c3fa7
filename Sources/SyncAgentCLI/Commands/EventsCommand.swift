// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import FoundationEssentials
import Glibc
import IconCache
import Reports
import SyncAgent
import SystemPackage

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Show what happened: lists, icons, publications, evictions.",
        usage: "syncagent events [--follow] [--since <id>] [--limit <n>] [options]",
        discussion: """
            Without --since, shows the newest events. Event numbers only grow. --follow prints events as \
            they happen, until Ctrl-C, and goes on after a restart of the agent; if events are missing, it prints a gap.
            --list shows the events of a list, and of the icons that it names at present. While the agent is stopped, the \
            events are read from the state folder.

            Examples:
              syncagent events --kind icon-failed --list apps.plist
              syncagent events --follow --json --since 4711

            Exit code 69: the agent is not running, and --follow is given or the state folder cannot be read.
            """)

    private static let usual = 100

    @Flag(help: "Print events as they happen, until Ctrl-C.")
    var follow = false

    @Option(help: ArgumentHelp("Start after the event with this number; 0 starts at the oldest.", valueName: "id"))
    var since: Int?

    @Option(
        help: ArgumentHelp(
            "Print at most this many events: the newest, or the first ones after --since. The default is 100, or all after "
                + "--since; with --follow, it is the number of older events to begin with.",
            valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp("Print only events of this kind, such as icon-failed; repeatable.", valueName: "kind"),
        completion: .list(AgentEvent.Kind.allCases.map(\.word)))
    var kind: [String] = []

    @Option(
        help: ArgumentHelp("Print only events of this list, and of its icons; repeatable.", valueName: "list"),
        completion: .offered(\.listsAndPins))
    var list: [ListName] = []

    @Flag(help: "Print each event as a JSON object on one line.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        if let since, since < 0 { throw ValidationError("--since is the number of an event, such as 4711.") }
        if let limit, limit < 0 { throw ValidationError("--limit is the number of events to print, such as 20.") }
        let kinds = AgentEvent.Kind.allCases.map(\.word)
        if let other = kind.first(where: { !kinds.contains($0) }) {
            throw ValidationError("\(other) is not a kind of event.\(Suggestion.text(for: other, among: kinds))")
        }
        if follow, since != nil, limit != nil {
            throw ValidationError("--follow begins after --since or with the newest --limit events: use one of them.")
        }
    }

    func run() async throws {
        var filter: EventFilter?
        if !kind.isEmpty || !list.isEmpty {
            filter = EventFilter(kinds: kind, lists: list, cache: IconCache(at: try await configuration.cacheFolder()))
        }
        let most = limit ?? (follow ? 0 : Self.usual)
        // The newest events of a filter are known only once all events are read.
        let isTail = filter != nil && since == nil && most > 0
        let start = since.map(EventStart.after) ?? (isTail ? .after(0) : .last(most))
        if follow, !isTail { return try await follow(from: start, filter) }
        let client = EventClient(socket: try configuration.folders().socket)
        let (status, agent) = try await configuration.askIfPossible { try await $0.status() }
        let journal = status == nil ? try stoppedJournal(agent) : nil
        var (next, rest) = (start, since == nil ? most : limit ?? .max)
        var newest: [String] = []
        while rest > 0 {
            let limit = filter == nil ? min(rest, EventPage.longest) : EventPage.longest
            let (lines, last): ([String], Int)
            if let journal {
                let page = await EventPage.read(from: next, limit: limit, of: journal)
                (lines, last) = (page.lines.map(\.text), page.next)
            } else {
                (lines, last) = try await configuration.askAgent { [next] _ in
                    try await client.page(from: next, limit: limit)
                }
            }
            if lines.isEmpty { break }
            let chosen = filter?.chosen(of: lines) ?? lines
            if isTail {
                newest = (newest + chosen).suffix(most)
            } else {
                try print(chosen.prefix(rest))
                rest -= chosen.count
            }
            next = .after(last)
        }
        try print(newest)
        if follow { try await follow(from: next, filter) }
    }

    private func stoppedJournal(_ agent: LockState) throws -> EventJournal {
        let folder = try configuration.folders().state
        guard access(folder.string, F_OK) == 0 || errno != ENOENT else {
            throw Exit.because(
                "No agent answers, and none has run with the state folder \(folder): it does not exist. Start the agent, or "
                    + "name its folder with --state.", code: .noAgent)
        }
        for path in [folder] + EventJournal.files.map({ folder.appending($0) })
        where access(path.string, path == folder ? R_OK | X_OK : R_OK) != 0 && errno != ENOENT {
            throw Exit.because(
                "No agent answers, and \(path) cannot be read: \(Errno(rawValue: errno)). Run this command as the "
                    + "agent's user.", code: .noAgent)
        }
        // If the agent runs but cannot be asked, a message has already said why.
        if agent == .free { Message.error("The agent is not running. The events are read from \(folder).") }
        return EventJournal(reading: folder)
    }

    private func follow(from start: EventStart, _ filter: EventFilter?) async throws {
        // A signal is the normal end of this command.
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        Message.endWithReader()
        let client = EventClient(socket: try configuration.folders().socket)
        var filter = filter
        // Events from before the start are not followed.
        filter?.kept = ([], [])
        try await configuration.askAgent { agent -> Void? in
            guard try await agent.status() != nil else { return nil }
            return try await client.follow(from: start) {
                Message.error("The agent stopped. Waiting until it runs again.")
            } _: {
                try print(filter?.chosen(of: $0) ?? $0)
            }
        }
    }

    private func print(_ lines: some Collection<String>) throws {
        if lines.isEmpty { return }
        if json { return try Message.output(lines: lines.joined(separator: "\n") + "\n") }
        let decoder = JSONDecoder()
        let (screen, now) = (output.screen, AgentClock.wallTime)
        let events = lines.compactMap { try? decoder.decode(EventRecord.self, untrusted: Data($0.utf8)) }
        try Message.output(events.flatMap { Self.lines(of: $0, now: now, fitting: screen.width) }, on: screen)
    }

    /// An event on one line: time, number, kind, subject and message; a message that does not fit goes below.
    static func lines(of event: EventRecord, now: Timestamp, fitting width: Int?) -> [StyledText] {
        let subject =
            event.list?.text ?? event.url.map { shown($0) } ?? event.urlSHA256.map { "by-url/\($0.prefix(12))…" }
            ?? event.generation.map { "generation \($0)" }
        let kind = event.kind + String(repeating: " ", count: max(0, 22 - TextWidth.of(event.kind)))
        // A time in the future is replaced by a text of the same width.
        let date = RelativeTime.isAhead(event.time, of: now) ? "(clock was ahead)   " : event.time
        let time = StyledText("\(date)  \(event.id)", .dim)
        let row = time + StyledText("  " + [kind, subject, event.message].compactMap(\.self).joined(separator: "  "))
        guard let width, row.width > width else { return [row] }
        let message = StyledText(event.message).item(fitting: width)
        let name = StyledText("  " + event.kind)
        guard let subject else { return [time + name] + message }
        let head = time + name + StyledText("  " + subject)
        return (head.width > width ? [time + name, "  " + StyledText(subject)] : [head]) + message
    }
}
