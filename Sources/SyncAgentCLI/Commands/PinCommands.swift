// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent
import SyncPlan

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep an icon even if no app list names it.",
        usage: "syncagent pin [--wait] [--json] <url> [options]",
        discussion: """
            A pinned icon is downloaded and refreshed like any other, and published in the list “pins”. Exit code 0 means \
            the pin is durable. The command waits some seconds for the download; a slower one continues in the background, \
            unless --wait is given.

            Examples:
              syncagent pin https://example.com/mail.png
              syncagent pin --wait https://example.com/mail.png

            Exit codes: 1 the pin is not published yet, or the download failed; with --wait, also if the icon waits for \
            something else, such as a pause; 69 the agent is not running.
            """)

    @Argument(help: "The URL, spelled as in an app list.", completion: .offered(\.icons))
    var url: IconURL

    @Flag(help: "Wait until the icon is ready, has failed, or waits for something else.")
    var wait = false

    @Flag(help: "Print one JSON document: what is known of the icon.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        // A URL in the short form of tables is completed later.
        if !Suggestion.isShown(url), let flaw = Reconciler.flaw(inPin: url) {
            throw ValidationError("“\(shown(url))” cannot be pinned: \(flaw).")
        }
    }

    func run() async throws {
        var url = url
        if Suggestion.isShown(url) { url = try await Suggestion.meant(url, in: configuration.agentFolders().cache) }
        try await configuration.pin(url, true)
        var icon = try await configuration.askAgent { try await $0.report(on: url) }
        if wait, icon?.isUnderWay ?? false {
            _ = try await configuration.askAgent { client in
                try await client.status { _ in
                    icon = try await client.report(on: url) ?? nil
                    return !(icon?.isUnderWay ?? false)
                }
            }
        }
        if json, let icon { try Message.output(icon.json) }
        guard let icon, icon.state != .ready else {
            if !json { try Message.output(sentence: "Pinned \(shown(url)): the icon is ready.") }
            return
        }
        let next = RelativeTime.text(in: icon.next, now: AgentClock.wallTime)
        guard let failure = icon.failure else {
            let reason = icon.holds.first?.reason ?? next
            let text = "\(shown(url)) is pinned, but not ready yet: \(reason)."
            if wait { throw Exit.because(text) }
            return Message.error(text)
        }
        throw Exit.because(
            "\(shown(url)) is pinned, but could not be downloaded: \(failure.message) [\(failure.code)]. Next: \(next)."
        )
    }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Unpin an icon; it stays only while an app list names it.",
        usage: "syncagent unpin [--json] <url> [options]",
        discussion: """
            Examples:
              syncagent unpin https://example.com/mail.png
              syncagent list pins

            Exit codes: 1 the icon is not pinned, or the change is not published yet; 69 the agent is not running.
            """)

    @Argument(help: "The URL, spelled as it was pinned.", completion: .offered(\.pinnedIcons))
    var url: IconURL

    @Flag(help: "Print one JSON document: the pins that stay.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        var url = url
        var icon = try await configuration.askAgent { try await $0.report(on: url) }
        if icon == nil, let whole = try Suggestion.whole(url, in: try await configuration.agentFolders().cache) {
            url = whole
            icon = try await configuration.askAgent { try await $0.report(on: url) }
        }
        guard let icon, icon.lists.contains(Reconciler.pinList) else {
            throw Exit.because("\(shown(url)) is not pinned. See: " + configuration.command("syncagent list pins"))
        }
        let report = try await configuration.pin(url, false)
        let lists = icon.lists.filter { $0 != Reconciler.pinList }.map(\.text)
        let end =
            if !lists.isEmpty {
                "it stays as long as \(lists.joined(separator: ", ")) \(lists.count == 1 ? "names" : "name") it"
            } else if icon.path == nil {
                "it has no image"
            } else if icon.isShownElsewhere {
                "its image stays as long as apps in lists show it"
            } else if !json,
                let fate = try? await configuration.askAgent({ try await $0.evictionReport(on: url) })
                    .icons.first, !fate.goes
            {
                "its image stays: \(RelativeTime.text(in: fate.reason, now: AgentClock.wallTime))"
            } else {
                "its image is removed when the grace period is over"
            }
        try Message.output(report.json, inJSON: json, or: "Unpinned \(shown(url)): \(end).")
    }
}

extension IconReport {
    /// Whether the icon is queued or in flight, and neither paused nor blocked.
    var isUnderWay: Bool { state == .pending && failure == nil && holds.isEmpty }
}

extension Configuration {
    @discardableResult
    fileprivate func pin(_ url: IconURL, _ isPinned: Bool) async throws -> PinReport {
        let report = try await askAgent { try await $0.pin(url, isPinned) }
        if report.isPublished { return report }
        let reason = report.error.map { " (\($0))" } ?? ""
        throw Exit.because(
            "The change is not published yet\(reason). The agent keeps trying. See: " + agentCommand("syncagent status")
        )
    }
}
