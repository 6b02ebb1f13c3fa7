// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import ArgumentParser
import CacheFormat
import FoundationEssentials
import Glibc
import HTTPRules
import Reports
import SyncAgent
import Synchronization
import SystemPackage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check whether app lists would be accepted, before you drop them.",
        usage: "syncagent check [--fetch] [--strict] [--all] [--json] <file>... [options]",
        discussion: """
            Also tells how many icons will fail, and which apps they are of, grouped by cause: URLs and addresses that \
            the settings refuse, and damaged data: URLs. With --fetch, downloads each icon once to test it, and stores nothing.

            Examples:
              syncagent check apps.plist
              syncagent check --fetch apps.plist

            Exit codes: 65 at least one file would not be accepted; 66 there is no such file; with --strict, 1 a file \
            name or an entry is ignored, or an icon will fail; with --fetch, 1 an icon could not be downloaded or is \
            refused.
            """)

    @Argument(help: "The lists; - is standard input.", completion: .file(extensions: ["plist", "json"]))
    var file: [String]

    @Flag(help: "Download each icon once and print the result. At most 8 at a time; nothing is stored.")
    var fetch = false

    @Flag(help: "End with exit code 1 if a file name or an entry is ignored, or an icon can never be ready.")
    var strict = false

    @Flag(help: "Show every entry and icon, not three for each cause.")
    var all = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let report = try await configuration.settingsReport()
        let settings = try configuration.agentSettings(of: report, needed: fetch ? ["fetch.proxy"] : [])
        let place = try configuration.agentPlace(of: report)
        let context = CommandContext(file: place.file)
        let check = ListCheck(parser: try Agent.Helpers.installed().parse, settings: settings.lists)
        var findings: [CheckFinding] = []
        for name in file {
            let verdict =
                name == CheckFinding.input
                ? await check.verdict(onInput: .standardInput) : await check.verdict(on: FilePath(name))
            var finding = CheckFinding(file: name, verdict: verdict, settings: settings, context)
            if case .failure(let rejection) = finding.verdict, rejection.code == .parserUnavailable {
                throw Exit.because(rejection.message, code: .badConfiguration)
            }
            finding.showsAll = all
            finding.isMissing = name != CheckFinding.input && FilePath(name).isUnused
            if fetch { try await tryIcons(of: &finding, settings, place.file) }
            findings.append(finding)
            if !output.json { try output.show(finding.lines) }
        }
        if output.json { try Message.output(["format": 1, "files": .lines(.array(findings.map(\.json)))]) }
        if findings.contains(where: { !$0.isAcceptable && !$0.isMissing }) { throw Exit.with(.notAList) }
        if findings.contains(where: \.isMissing) { throw Exit.with(.noFile) }
        if fetch, findings.contains(where: \.hasFailedIcons) { throw Exit.with(.attention) }
        if strict, findings.contains(where: \.isFlawed) { throw Exit.with(.attention) }
    }

    /// The agent's credentials, if this user can read them.
    private func credentials(beside configuration: String) throws -> Credentials {
        let file = CredentialsFile(beside: FilePath(configuration), isChecked: true)
        guard access(file.path, R_OK) == 0 || errno != EACCES else {
            Message.error("Cannot read \(file.path): private origins are requested without credentials.")
            return Credentials()
        }
        try Configuration.end(because: file.problems)
        return file.credentials
    }

    /// Downloads each icon of the list once, except refused ones.
    private func tryIcons(of finding: inout CheckFinding, _ settings: Settings, _ file: String) async throws {
        guard case .success(let list) = finding.verdict else { return }
        var seen = Set(finding.refused.map(\.icon))
        let urls = list.entries.map(\.icon).filter { seen.insert($0).inserted }
        let proxies = try Exit.with(.badConfiguration) {
            try ProxyPolicy(setting: settings.fetch.proxy) { Variable[$0] }
        }
        var trial = settings
        if trial.fetch.caFile == nil { trial.fetch.caFile = Variable["SSL_CERT_FILE"] }
        trial.credentials = try credentials(beside: file)
        let folder = try DemoCommand.makeTemporaryFolder(for: "check")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let display = LiveDisplay(on: output.messages)
        defer { display.clear() }
        let results = Mutex<[IconURL: FetchOutcome]>([:])
        try await TrialDownloads.run(
            urls, of: FilePath(finding.file).lastComponent.map { ListName($0.string) }, settings: trial,
            proxies: proxies, in: folder
        ) { result in
            let done = results.withLock { results in
                results[result.url] = result.outcome
                return results.count
            }
            display.show([StyledText("\(grouped(done)) of \(counted(urls.count, "icon"))")])
        }
        finding.trials = urls.compactMap { url in results.withLock { $0[url] }.map { (url, $0) } }
    }
}
