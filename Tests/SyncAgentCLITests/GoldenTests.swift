// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgentCLI

/// The output of the commands as it was looked at; `GOLDEN=write` writes it anew.
@Suite("Output that was looked at")
struct GoldenTests {
    /// The commands, with those below others as `config-check`.
    static let commands =
        ["syncagent"]
        + names(below: SyncAgentCommand.self).flatMap { name, type in
            [name] + names(below: type).map { "\(name)-\($0.name)" }
        }

    private static let context = CommandContext(
        start: "syncagent run", isSystem: false, lists: "/home/ada/.config/syncagent/lists.d",
        cache: "/home/ada/.cache/syncagent", file: "/home/ada/.config/syncagent/syncagent.toml")

    private static func names(
        below type: any ParsableCommand.Type
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map {
            ($0.configuration.commandName ?? "", $0)
        }
    }

    @Test("the help of each command fits, has two examples and names its exit codes", arguments: commands)
    func help(command: String) throws {
        let type = command.split(separator: "-").reduce(SyncAgentCommand.self as any ParsableCommand.Type) {
            type, name in
            Self.names(below: type).first { $0.name == name }?.type ?? type
        }
        let help = SyncAgentCommand.helpMessage(for: type, columns: 80)
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
        let examples = lines.drop { !$0.hasSuffix("Examples:") }.dropFirst().prefix { $0.contains("syncagent") }
        #expect(examples.count == 2)
        #expect(help.contains("Exit code"))
        try Golden.expect(help + "\n", "help-\(command).txt")
    }

    @Test(
        "status fits 80 and 40 columns, whatever is wrong",
        arguments: ReportSample.allCases, [80, 40])
    func status(sample: ReportSample, width: Int) throws {
        let view = StatusView(
            report: sample.report, context: Self.context, now: ReportSample.now, width: width)
        let lines = view.lines
        // A command is to be pasted, and a single word cannot be broken.
        let wide = lines.filter { $0.width > width && !$0.plain.hasPrefix("  $ ") && $0.plain.contains(" ") }
        #expect(wide.allSatisfy { $0.plain.drop { $0 == " " }.contains(" ") == false }, "\(wide.map(\.plain))")
        try Golden.expect(lines.map { $0.plain + "\n" }.joined(), "status-\(sample)-\(width).txt")
    }

    @Test("on a small terminal the verdict, the first problem, the table and the figures stay")
    func smallTerminal() {
        let report = ReportSample.failures.report
        let view = StatusView(report: report, context: Self.context, now: ReportSample.now, width: 80)
        for height in [20, 18, 15] {
            let lines = view.lines(atMost: height).map(\.plain)
            let verdict = "8 icons failed, 1 list was not accepted:"
            #expect(lines.count <= height && lines.first == verdict, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("LIST") } && lines.contains { $0.hasPrefix("agent") }, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("  $ syncagent ") }, "\(lines)")
        }
        #expect(view.lines(atMost: 24) == view.lines)
    }

    /// A status with as many causes as codes, and many lists of which the last one has failures.
    private static func troubled(codes: Int, lists: Int) -> StatusReport {
        var report = ReportSample.failures.report
        report.failures = (0..<codes).map {
            StatusReport.Failure(
                code: "http-\(500 + $0)", icons: 10, example: "https://h.example/a.png", list: "9.plist",
                message: "the server answered \(500 + $0)")
        }
        report.lists = (1...lists).map { StatusReport.List(name: ListName("\($0).plist"), state: .ok) }
        report.lists[lists - 1].failed = 10 * codes
        return report
    }

    @Test(
        "on 24 lines, status has the verdict, a cause with its remedy, a line for each other cause, and the lists that failed",
        arguments: [(1, 1, 1), (3, 2, 3), (5, 3, 5), (5, 100, 4), (30, 100, 4)])
    func usualTerminal(codes: Int, lists: Int, shown: Int) {
        let report = Self.troubled(codes: codes, lists: lists)
        let view = StatusView(report: report, context: Self.context, now: ReportSample.now, width: 80)
        let lines = view.lines(atMost: 24).map(\.plain)
        #expect(lines.count <= 24, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("\(lists).plist") }, "\(lines)")
        #expect(lines.contains("  Open the URL in a browser. Correct it in the list, or restore the image on the"))
        #expect(lines.filter { $0.hasPrefix("http-5") }.count == shown, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("… \(codes - shown) more: ") } == (shown < codes), "\(lines)")
        // Where there is room, three are in full; the rest never are.
        let tall = view.lines(atMost: 200).map(\.plain)
        #expect(tall.filter { $0.hasPrefix("  Open the URL") }.count == min(codes, 3))
        #expect(tall.filter { $0.hasPrefix("http-5") }.count == codes)
        #expect(tall.contains("  $ syncagent explain http-503") == (codes > 3))
    }

    @Test("status as JSON", arguments: ReportSample.allCases)
    func statusJSON(sample: ReportSample) throws {
        try Golden.expect(sample.report.json.text + "\n", "status-\(sample).json")
    }

    @Test("status in colour")
    func color() throws {
        let view = StatusView(
            report: ReportSample.failures.report, context: Self.context, now: ReportSample.now, width: 80)
        let text = view.lines.map { $0.rendered(inColor: true) + "\n" }.joined()
        try Golden.expect(text.replacing("\u{1B}", with: "^["), "status-color.txt")
    }

    @Test("why fits 80 and 40 columns", arguments: IconSample.allCases, [80, 40])
    func why(sample: IconSample, width: Int) throws {
        let view = IconView(
            report: sample.report, cache: "/home/ada/.cache/syncagent", now: ReportSample.now, width: width,
            isFromDisk: sample == .retired, fullRefresh: "syncagent refresh --full https://example.com/mail.png",
            retry: "syncagent retry https://example.com/mail.png")
        try Golden.expect(view.lines.map { $0.plain + "\n" }.joined(), "why-\(sample)-\(width).txt")
        if width == 80 { try Golden.expect(sample.report.json.text + "\n", "why-\(sample).json") }
    }

    @Test("a list fits 80 and 40 columns, and its URLs are whole at the ends of their lines", arguments: [80, 40])
    func list(width: Int) throws {
        let image = AppListDocument.Image(
            suffix: "png", sha256: Digest.of(Array("a".utf8)), bytes: 6191, type: "image/png", width: 64, height: 64)
        let icons: [(name: String?, icon: IconURL, state: AppListDocument.State)] = [
            ("Mail", "https://example.com/mail.png", .ready(image)),
            ("日本語のアプリ", "https://example.jp/app.png", .pending),
            (
                "A name that goes on and on", "https://cdn.example.com/images/2026/icons/a.png",
                .failed(error: "http-404")
            ),
            (nil, "https://example.com/a%20b.png", .failed(error: "address-refused")),
        ]
        let document = AppListDocument(
            list: "apps.plist",
            source: AppListDocument.Source(sha256: Digest.of([]), bytes: 2101, modified: ReportSample.now),
            apps: icons.map {
                AppListDocument.App(name: $0.name, icon: $0.icon, download: nil, expected: nil, state: $0.state)
            })
        let lines = ListCommand.table(of: document).lines(fitting: width).map(\.plain)
        for icon in icons { #expect(lines.contains { $0.hasSuffix(icon.icon.text) }) }
        try Golden.expect(lines.map { $0 + "\n" }.joined(), "list-\(width).txt")
    }
}
