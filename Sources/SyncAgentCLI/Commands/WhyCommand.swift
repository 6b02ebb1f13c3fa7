// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import IconCache
import SyncAgent
import SyncPlan
import SystemPackage

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain the state of an icon URL: which lists name it, what the server said, what comes next.",
        discussion: "Works without a running agent. Exit code 1: the URL is unknown.")

    @Argument(help: "The URL, spelled as in the app list.")
    var url: IconURL

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        guard let report = try await report() else {
            throw Exit.because("No app list names \(shown(url)), and no image of it is on disk.", code: .attention)
        }
        if json { try Message.output(report.json) } else { try Message.output(try lines(of: report)) }
    }

    private func report() async throws -> IconReport? {
        let folders = try configuration.folders()
        if let known = try await configuration.askIfPossible({ try await $0.report(on: url) }).answer { return known }
        let status = DiskStatus(
            folders: folders, settings: try configuration.settings(), parser: try Agent.Helpers.installed().parse)
        do {
            return try status.report(on: url)
        } catch {
            throw Exit.because("\(error)", code: .attention)
        }
    }

    private func lines(of report: IconReport) throws -> [String] {
        var lines = [shown(report.url)]
        func add(_ title: String, _ text: String) {
            lines.append("  \(title)\(String(repeating: " ", count: 11 - title.count))\(text)")
        }
        add("named by", report.lists.isEmpty ? "no list" : report.lists.map(\.text).joined(separator: ", "))
        add("state", report.state)
        if let path = report.path { add("image", try configuration.folders().cache.string + "/" + path) }
        add("next", report.next)
        for (index, hop) in report.trail.enumerated() { add(index == 0 ? "requests" : "", Self.text(of: hop)) }
        if let failure = report.failure {
            let times =
                switch failure.attempts {
                case 0: ""
                case 1: "once, "
                case let attempts: "\(attempts) times in a row, "
                }
            add("failed", "\(times)\(failure.code): \(failure.message)")
        }
        if let stale = report.stale { add("stale", stale) }
        if let response = report.response {
            add("received", response.received)
            if let etag = response.etag { add("ETag", etag) }
            if let date = response.lastModified { add("modified", date) }
            add("freshness", response.freshness)
        }
        if let origin = report.origin {
            let failures = origin.failures == 0 ? "" : ", \(counted(origin.failures, "failure")) in a row"
            add("origin", origin.name + failures + (origin.waitsUntil.map { ", no requests until \($0)" } ?? ""))
        }
        return lines
    }

    /// A URL of the way, and what came of it: `https://a.example/x.png: 302, through the proxy p.example:3128`.
    private static func text(of hop: FetchTrail.Hop) -> String {
        "\(hop.url): \(hop.status.map(String.init) ?? "no response")"
            + (hop.allowedBy.map { ", allowed by \($0)" } ?? "") + (hop.proxy.map { ", through the proxy \($0)" } ?? "")
    }
}
