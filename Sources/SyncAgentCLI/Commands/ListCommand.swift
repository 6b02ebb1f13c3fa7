// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IconCache
import SyncAgent
import SyncPlan

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the app lists, or one list's icons and their state.",
        discussion: "It works with the agent stopped. Exit code 1: there is no good version of that list.")

    @Argument(help: "The list's file name: apps.plist.")
    var list: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        if let list {
            try showIcons(of: list)
        } else {
            let report = try await configuration.currentStatus()
            try Message.output(
                json ? JSON.lines(.array(report.lists.map(\.json))).text : StatusCommand.lists(of: report))
        }
    }

    private func showIcons(of list: String) throws {
        do {
            let cache = IconCache(at: try configuration.folders().cache)
            guard let document = try cache.document(of: list) else {
                throw Exit.because(
                    "There is no good version of \(printable(list)): syncagent status tells why.", code: .attention)
            }
            guard !json else { return try Message.output(document.json, terminator: "") }
            var table = Table("STATUS", "NAME", "SIZE", "ICON")
            for app in document.apps {
                let (status, size) = Self.columns(of: app.state)
                table.add(status, printable(app.name ?? ""), size, shown(app.icon))
            }
            try Message.output(table.text)
        } catch let error as IconCacheError {
            throw Exit.because("\(error)", code: .attention)
        }
    }

    private static func columns(of state: AppListDocument.State) -> (status: String, size: String) {
        switch state {
        case .ready(let image): ("ready", "\(image.width)x\(image.height)")
        case .pending: ("pending", "")
        case .failed(let code): (code, "")
        }
    }
}
