// SPDX-License-Identifier: Apache-2.0
import AppLists
import ArgumentParser
import CacheFormat
import ImageChecks
import SyncAgent
import SyncPlan
import SystemPackage
import WebAddresses

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check whether property lists would be accepted, before you drop them.",
        discussion: "Exit code 65: at least one file would not be accepted.")

    @Argument(help: "The property lists.", completion: .file(extensions: ["plist"]))
    var file: [String]

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        let settings = try await configuration.agentSettings()
        let check = ListCheck(parser: try Agent.Helpers.installed().parse, settings: settings.lists)
        var findings: [CheckFinding] = []
        for name in file {
            let finding = CheckFinding(file: name, verdict: await check.verdict(on: FilePath(name)), settings: settings)
            if case .failure(let rejection) = finding.verdict, rejection.code == .parserUnavailable {
                throw Exit.because(rejection.message, code: .badConfiguration)
            }
            findings.append(finding)
            if !json { try Message.output(finding.lines) }
        }
        if json {
            try Message.output(["format": 1, "files": .lines(.array(findings.map(\.json)))])
        }
        if !findings.allSatisfy(\.isAcceptable) { throw Exit.with(.notAList) }
    }
}

/// The verdict on one file, and what will become of its icons.
private struct CheckFinding {
    let file: String
    let verdict: ListVerdict
    let settings: Settings

    var isAcceptable: Bool { (try? verdict.get()) != nil }

    /// The icons that are never asked for, and why.
    private func refused(in list: AppList) -> [(icon: IconURL, failure: FetchFailure)] {
        let network = settings.network
        let inspector = ImageInspector(limits: ImageLimits(settings.images))
        var refused: [(icon: IconURL, failure: FetchFailure)] = []
        for entry in list.entries {
            do {
                if case .inline(let url) = try network.source(of: entry.icon) {
                    _ = try url.image(upTo: settings.fetch.maxBytes, inspector)
                }
            } catch {
                refused.append((entry.icon, error))
            }
        }
        return refused
    }

    private var hasListName: Bool { ListName(FilePath(file).lastComponent?.string ?? "").isAppList }

    /// The finding in words, a line for each thing that is wrong.
    var lines: [String] {
        switch verdict {
        case .failure(let rejection):
            return ["\(file): not acceptable: \(rejection.message) [\(rejection.code)]"]
        case .success(let list):
            var lines = ["\(file): acceptable, \(counted(list.entries.count, "app"))"]
            lines += list.problems.map { "  ignored: \($0)" }
            lines += refused(in: list).map { icon, failure in
                "  will fail: \(shown(icon)): \(failure.message) [\(failure.code)]"
            }
            if !hasListName {
                lines.append(
                    "  the lists folder ignores this file name: it must end in .plist, and must not begin with . or #")
            }
            return lines
        }
    }

    var json: JSON {
        switch verdict {
        case .failure(let rejection):
            return [
                "file": .string(file), "acceptable": false,
                "error": ["code": .string(rejection.code.rawValue), "message": .string(rejection.message)],
            ]
        case .success(let list):
            let problems: [JSON] = list.problems.map { problem in
                ["keyPath": .string(problem.keyPath), "reason": .string(problem.reason)]
            }
            let refused: [JSON] = refused(in: list).map { icon, failure in
                [
                    "icon": .string("\(LogURL(icon))"), "code": .string(failure.code.rawValue),
                    "message": .string(failure.message),
                ]
            }
            return [
                "file": .string(file), "acceptable": true, "apps": .number(list.entries.count),
                "problems": .array(problems), "refused": .array(refused), "isListName": .bool(hasListName),
            ]
        }
    }
}
