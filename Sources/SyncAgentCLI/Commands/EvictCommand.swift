// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IconCache
import SyncAgent
import SyncPlan

struct EvictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict", abstract: "Remove what no list names any more without waiting for its grace.",
        discussion: """
            What a reader holds a lease on stays until the reader ends. What was retired less than 5 seconds ago stays for \
            the rest of them, for readers without a lease that are in the middle of it; the command waits. A change that \
            retired most of the cache is held until it is confirmed, or old enough (eviction.holdFor).
            Exit codes: 1 something stays although it is retired, or the URL is unknown; 69 the agent is not running.
            """)

    @Flag(help: "Only tell what would go, what would stay, and why.")
    var dryRun = false

    @Option(help: ArgumentHelp("Only tell whether the image of this URL goes, and why.", valueName: "url"))
    var explain: String?

    @Flag(help: "Let an eviction that is held go on.")
    var confirm = false

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard !confirm || !(dryRun || explain != nil) else {
            throw ValidationError("--confirm removes files; --dry-run and --explain only tell of them.")
        }
    }

    func run() async throws {
        if dryRun || explain != nil { return try await tell() }
        let before = try await configuration.askAgent { try await $0.evictionReport() }
        let after = try await configuration.askAgent { try await $0.evict(isConfirmed: confirm) }
        let removed = Set(before.icons.map(\.url)).subtracting(after.icons.map(\.url)).count
        try Message.output(json ? after.json.text : "\(removed) icons removed" + Self.rest(of: after))
        if !after.icons.isEmpty { throw Exit.with(.attention) }
    }

    private func tell() async throws {
        let report = try await configuration.askAgent { try await $0.evictionReport(on: explain) }
        if let explain, report.icons.isEmpty {
            throw Exit.because("There is no image of \(printable(explain)) on disk.", code: .attention)
        }
        try Message.output(json ? report.json.text : Self.table(of: report))
    }

    private static func rest(of report: EvictionReport) -> String {
        report.icons.isEmpty ? "" : "; \(report.icons.count) stay:\n" + table(of: report)
    }

    private static func table(of report: EvictionReport) -> String {
        guard !report.icons.isEmpty else { return "Nothing is retired." }
        var table = Table("GOES", "URL", "WHY")
        for icon in report.icons {
            let pids = report.leases.first { $0.generation == icon.generation }?.pids ?? []
            let holders = pids.isEmpty ? "" : " (held by process \(pids.map(String.init).joined(separator: ", ")))"
            table.add(icon.goes && pids.isEmpty ? "yes" : "no", printable(icon.url), printable(icon.reason) + holders)
        }
        return table.text
    }
}
