// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep an icon even if no app list names it.",
        discussion: """
            A pinned icon is downloaded and refreshed like any other, and published in the list “pins”. Exit code 0 means \
            the pin is durable. The command waits some seconds for the download; a slower one continues in the background.
            Exit codes: 1 the pin is not published yet, or the download failed; 69 the agent is not running.
            """)

    @Argument(help: "The URL, spelled as in an app list.")
    var url: IconURL

    @OptionGroup var configuration: Configuration

    func validate() throws {
        if let flaw = Reconciler.flaw(inPin: url) {
            throw ValidationError("“\(shown(url))” cannot be pinned: \(flaw).")
        }
    }

    func run() async throws {
        try await configuration.pin(url, true)
        let icon = try await configuration.askAgent { try await $0.report(on: url) }
        guard let icon, icon.state != "ready" else { return }
        guard let failure = icon.failure else {
            return Message.error("\(shown(url)) is pinned, but not ready yet: \(icon.next).")
        }
        throw Exit.because(
            "\(shown(url)) is pinned, but could not be downloaded: \(failure.message) [\(failure.code)]. Next: \(icon.next).",
            code: .attention)
    }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Unpin an icon; it stays only while an app list names it.",
        discussion: "Exit codes: 1 the change is not published yet; 69 the agent is not running.")

    @Argument(help: "The URL, spelled as it was pinned.")
    var url: IconURL

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pin(url, false) }
}

extension Configuration {
    fileprivate func pin(_ url: IconURL, _ isPinned: Bool) async throws {
        let report = try await askAgent { try await $0.pin(url, isPinned) }
        guard report.isPublished else {
            let reason = report.error.map { " (\($0))" } ?? ""
            throw Exit.because(
                "The change is not published yet\(reason). The agent keeps trying: see syncagent status.",
                code: .attention)
        }
    }
}
