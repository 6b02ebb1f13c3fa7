// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Glibc
import SyncAgent
import SyncPlan
import SystemPackage

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Rescan the lists folder now.",
        discussion: """
            With --wait, it returns when the lists are published or have failed; their icons are downloaded first. Exit \
            code 0 then means that all of them are ready and durable.
            Exit codes: 1 an icon failed, a list is rejected or missing, or publishing failed; 69 the agent is not running.
            """)

    @Argument(
        help: ArgumentHelp(
            "The lists to wait for with --wait, such as apps.plist; by default all lists.", valueName: "list"))
    var lists: [ListName] = []

    @Flag(help: "Wait until the lists are published or have failed.")
    var wait = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        guard wait else {
            _ = try await configuration.askAgent { try await $0.sync() }
            return
        }
        let last = try await configuration.askAgent { try await $0.sync(waitingFor: lists, show) }
        if isatty(STDERR_FILENO) == 1 { write("\r\u{1B}[K") }
        guard last.isDone else {
            throw Exit.because("The agent stopped before the lists were published.", code: .noAgent)
        }
        for list in last.missing {
            Message.error("\(list): there is no such list in the lists folder.")
        }
        for rejection in last.rejected { Message.error("\(rejection.list): \(rejection.message)") }
        if let error = last.error { Message.error(error) }
        try Message.output(["\(last.ready) ready, \(last.failed) failed, \(last.pending) pending"])
        if !last.isWhole { throw Exit.with(.attention) }
    }

    private func show(_ report: SyncReport) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        write("\r\u{1B}[K\(report.ready) ready, \(report.failed) failed, \(report.pending) pending")
    }

    private func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
