// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep an icon, whether or not an app list names it.",
        discussion: """
            It is downloaded and refreshed like any other icon, and the manifest names it in the list “pins”. Exit code 0 \
            means the pin is durable; a download that takes longer goes on.
            Exit codes: 1 the pin is not published yet, or the icon could not be downloaded; 69 the agent is not running.
            """)

    @Argument(help: "The URL, spelled as an app list would.")
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
            return Message.error("\(shown(url)) is pinned, and not ready yet: \(icon.next).")
        }
        throw Exit.because(
            "\(shown(url)) is pinned, but could not be downloaded: \(failure.message) [\(failure.code)]. Next: \(icon.next).",
            code: .attention)
    }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Unpin an icon; it stays only while an app list names it.",
        discussion: "Exit codes: 1 the change is not published yet, 69 the agent is not running.")

    @Argument(help: "The URL, as it was pinned.")
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
