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
        commandName: "list", abstract: "Show the app lists, or the icons of one list and their state.",
        discussion:
            "Works without a running agent. Exit code 1: the list has no good version, or the manifest cannot be read."
    )

    @Argument(help: "The file name of the list, such as apps.plist.")
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
            parser: try Agent.Helpers.installed().parse, settings: try await configuration.agentSettings().lists)
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
        case nil: Exit.because("No icon is pinned.", code: .attention)
        case .failure(let rejection):
            Exit.because(
                "\(list) has no good version: \(rejection.message) [\(rejection.code)]",
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
            ["current version unknown: \(rejection.message) [\(rejection.code)]"]
        case .failure(let rejection):
            ["current version rejected: \(rejection.message) [\(rejection.code)]"]
        case .success(let list): list.problems.map { "ignored: \($0)" }
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
