// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SyncAgent
import SyncPlan

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep an icon that no list names, or will name no more.",
        discussion: """
            It is downloaded and refreshed like any other, and the manifest names it in a list of its own, “pins”. When \
            this command ends well, that is durable.
            Exit codes: 1 it could not be published yet, 69 the agent is not running.
            """)

    @Argument(help: "The URL, spelled as an app list would.")
    var url: String

    @OptionGroup var configuration: Configuration

    func validate() throws {
        if let flaw = AppEntry.flaw(inIcon: url) {
            throw ValidationError("“\(printable(url))” cannot be pinned: \(flaw).")
        }
        do {
            _ = try IconSource(url)
        } catch {
            throw ValidationError("“\(printable(url))” cannot be pinned: \(error.message).")
        }
    }

    func run() async throws { try await configuration.pin(url, true) }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Keep an icon no longer than app lists name it.",
        discussion: "Exit codes: 1 it could not be published yet, 69 the agent is not running.")

    @Argument(help: "The URL, as it was pinned.")
    var url: String

    @OptionGroup var configuration: Configuration

    func run() async throws { try await configuration.pin(url, false) }
}

extension Configuration {
    fileprivate func pin(_ url: String, _ isPinned: Bool) async throws {
        let report = try await askAgent { try await $0.pin(url, isPinned) }
        guard report.isPublished else {
            let reason = report.error.map { " (\(printable($0)))" } ?? ""
            throw Exit.because(
                "It is not published yet\(reason): the agent goes on trying, see syncagent status.", code: .attention)
        }
    }
}
