// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent

struct MuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Mute a URL or list whose failures are known: status and alerts ignore them.",
        usage: "syncagent mute [--for <time>] [--json] [<url> | --list <list>] [options]",
        discussion: """
            A muted URL stays muted until it is unmuted, even if its download succeeds in between; no list has to name \
            it yet. A muted list mutes its rejection, and the failures of icons if all lists that name them are \
            muted. At most 1,000 URLs and lists can be muted. Mutes survive restarts; downloads go on as before. \
            Without a URL or list, shows what is muted; that works without a running agent.

            Examples:
              syncagent mute https://example.com/gone.png
              syncagent mute --list old.plist --for 30d

            Exit codes: 1 no list has a URL that is given in its short form, or several icons have it, 1,000 URLs and \
            lists are muted, or the change cannot be stored and is lost at the next restart; 69 the agent is not \
            running, or, without a URL or list, its state cannot be read either.
            """)

    @OptionGroup var subject: MuteOptions

    @Option(name: .customLong("for"), help: ArgumentHelp("Unmute after this time, such as 30d.", valueName: "time"))
    var duration: String?

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        try PauseCommand.validate(duration)
        if duration != nil, subject.target == nil { throw ValidationError("--for needs a URL or --list.") }
    }

    func run() async throws {
        if let target = subject.target { return try await configuration.mute(target, true, for: duration, output) }
        let answer = try await configuration.askIfPossible { try await $0.mutes() }.answer
        let stored = try answer ?? configuration.diskStatus(try configuration.settingsOrWarning()).mutes
        guard let report = stored else {
            let folder = try configuration.folders().state
            throw Exit.because(
                "It is unknown what is muted: no agent answers, and its state in \(folder) cannot be read. Run this command "
                    + "as the agent's user; if you did, the agent holds the state, or it is damaged.",
                code: .noAgent)
        }
        try output.show(report.json) { _ in
            report.mutes.isEmpty
                ? ["Nothing is muted."]
                : report.mutes.map { StyledText(RelativeTime.text(in: $0.text, now: AgentClock.wallTime)) }
        }
    }
}

struct UnmuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute", abstract: "Unmute a URL or list; its failures count again.",
        usage: "syncagent unmute [--json] (<url> | --list <list>) [options]",
        discussion: """
            Examples:
              syncagent unmute https://example.com/gone.png
              syncagent unmute --list old.plist

            Exit codes: 1 it is not muted, or the change cannot be stored and is lost at the next restart; 69 the agent is \
            not running.
            """)

    @OptionGroup var subject: MuteOptions
    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        guard let target = subject.target else { throw ValidationError("unmute needs a URL or --list.") }
        try await configuration.mute(target, false, output)
    }
}

struct MuteOptions: ParsableArguments {
    @Argument(help: "The URL, spelled as in an app list.", completion: .offered(\.icons))
    var url: IconURL?

    @Option(
        help: ArgumentHelp("The file name of a list, in place of a URL.", valueName: "list"),
        completion: .offered(\.listsAndPins))
    var list: ListName?

    var target: MuteTarget? { url.map(MuteTarget.icon) ?? list.map(MuteTarget.list) }

    func validate() throws {
        if url != nil, list != nil { throw ValidationError("Give either a URL or --list.") }
        if let url, !url.text.utf8.contains(UInt8(ascii: ":")) {
            throw ValidationError("\(shown(url)) is not a URL. For a list: --list \(ShellWord.quoted(url.text))")
        }
    }
}

extension Configuration {
    fileprivate func mute(
        _ given: MuteTarget, _ isMuted: Bool, for duration: String? = nil, _ output: ReportOptions
    ) async throws {
        let known = try await askAgent { try await $0.mutes() }
        let target = isMuted ? try await whole(given) : known.target(meant: given)
        let name = MuteReport.Mute(target, until: nil).text
        guard isMuted || known.names(target) else {
            throw Exit.because("\(name) is not muted. See: " + command("syncagent mute"))
        }
        let report = try await askAgent { [target] in try await $0.mute(target, isMuted, for: duration) }
        let time = duration.map { " for \($0)" } ?? ""
        try Message.output(report.json, inJSON: output.json, or: "\(isMuted ? "Muted" : "Unmuted") \(name)\(time).")
        try Exit.unlessStored(report.error)
    }

    /// Completes the URL of an icon that is given without its query; prints a notice if no list has the icon, or if the
    /// list is missing.
    private func whole(_ given: MuteTarget) async throws -> MuteTarget {
        let folders = try await agentFolders()
        switch given {
        case .list(let list):
            let lists = folders.knownLists
            if !lists.contains(list) {
                Message.notice("There is no list \(list) now.\(Suggestion.list(for: list, among: lists))")
            }
        case .icon(let url):
            if try await askAgent({ try await $0.report(on: url) }) != nil { return given }
            let whole = try Suggestion.meant(url, in: folders.cache)
            guard whole == url else { return .icon(whole) }
            Message.notice("No app list names \(shown(url)) now.\(Suggestion.icon(for: url, in: folders.cache))")
        }
        return given
    }
}

extension MuteReport {
    /// The muted icon whose URL without its query was given, if exactly one matches; else the target as given.
    fileprivate func target(meant given: MuteTarget) -> MuteTarget {
        guard case .icon(let url) = given, !names(given) else { return given }
        let others = mutes.compactMap(\.url).filter { Suggestion.isShort(url, of: $0) }
        return others.count == 1 ? .icon(others[0]) : given
    }
}

extension MuteReport.Mute {
    /// The list or URL, and when the mute ends.
    var text: String {
        (list.map { "the list \($0)" } ?? url.map { shown($0) } ?? "") + (until.map { ", until \($0)" } ?? "")
    }
}
