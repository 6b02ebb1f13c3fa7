// SPDX-License-Identifier: Apache-2.0
import AppLists
import ArgumentParser
import Glibc
import IconCache
import SyncAgent
import SyncPlan
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the app lists, or one list's icons and their state.",
        discussion:
            "It works with the agent stopped. Exit code 1: there is no good version of that list, or the manifest cannot be read."
    )

    @Argument(help: "The list's file name: apps.plist.")
    var list: ListName?

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        if let list {
            try await showIcons(of: list)
        } else {
            let report = try await configuration.currentStatus()
            if json {
                try Message.output(.lines(.array(report.lists.map(\.json))))
            } else {
                try Message.output(StatusCommand.lists(of: report))
            }
            // Without the manifest there is no telling what was published.
            if report.reachable == false, let error = report.publication.error {
                throw Exit.because(error, code: .attention)
            }
        }
    }

    private func showIcons(of list: ListName) async throws {
        let folders = try configuration.folders()
        let check = ListCheck(
            parser: try Agent.Helpers.installed().parse, settings: try configuration.settings().lists)
        do {
            let cache = IconCache(at: folders.cache)
            if json, let document = try cache.document(of: list) { return try Message.output(json: document.json) }
            // The file is parsed while its document is read.
            async let reading =
                list == Reconciler.pinList ? nil : check.verdict(on: folders.lists.appending(list.text))
            let document = try cache.document(of: list)
            let verdict = await reading
            guard let document else {
                let path = folders.lists.appending(list.text)
                guard list == Reconciler.pinList || access(path.string, F_OK) == 0 || errno != ENOENT else {
                    throw Exit.because("There is no list \(list) in \(folders.lists).", code: .attention)
                }
                throw Self.missing(list, verdict)
            }
            var table = Table("STATUS", "NAME", "SIZE", "ICON")
            for app in document.apps {
                let (status, size) = Self.columns(of: app.state)
                table.add(status, app.name ?? "", size, shown(app.icon))
            }
            try Message.output(table.lines + Self.notes(on: verdict))
        } catch let error as IconCacheError {
            throw Exit.because("\(error)", code: .attention)
        }
    }

    private static func missing(_ list: ListName, _ verdict: ListVerdict?) -> any Error {
        switch verdict {
        case nil: Exit.because("Nothing is pinned.", code: .attention)
        case .failure(let rejection):
            Exit.because(
                "There is no good version of \(list): \(rejection.message) [\(rejection.code)]",
                code: .attention)
        case .success:
            Exit.because("\(list) has not been published yet.", code: .attention)
        }
    }

    /// What is to be said of the file as it is now.
    private static func notes(on verdict: ListVerdict?) -> [String] {
        switch verdict {
        case nil: []
        case .failure(let rejection) where !rejection.isOfTheFile:
            ["not known as it is now: \(rejection.message) [\(rejection.code)]"]
        case .failure(let rejection):
            ["not accepted as it is now: \(rejection.message) [\(rejection.code)]"]
        case .success(let list): list.problems.map { "passed over: \($0)" }
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
