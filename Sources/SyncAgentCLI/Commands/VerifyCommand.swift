// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import IconCache
import SyncAgent
import Synchronization
import SystemPackage

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read everything that the manifest names, and hold it against its digests.",
        discussion: """
            It needs no agent, and no right to write. With --repair, damaged images are fetched again: by the agent, or \
            without one by a single sync.
            Exit code 1: something is damaged, or was before it was repaired.
            """)

    @Flag(help: "Have damaged images fetched again.")
    var repair = false

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        let folders = try configuration.folders()
        let result: Verification
        do {
            let progress = Progress()
            result = try await Verification.run(IconCache(at: folders.cache)) { progress.count(of: $0) }
            progress.clear()
        } catch let error as IconCacheError {
            throw Exit.because("\(error)", code: .attention)
        }
        try Message.output(json ? Self.json(of: result) : Self.text(of: result))
        guard !result.damage.isEmpty else { return }
        if repair { try await repair(result, folders) }
        throw Exit.with(.attention)
    }

    private func repair(_ result: Verification, _ folders: AgentFolders) async throws {
        let images = Set(result.damage.compactMap(\.image))
        if try await ControlClient(socket: folders.socket).repair(images) == nil {
            try await RunCommand.syncOnce(configuration, isThorough: true)
        }
        Message.error("Of \(images.count) images those are fetched again that are damaged: see syncagent status.")
    }

    private static func text(of result: Verification) -> String {
        let lines = result.damage.map { "\(printable($0.path)): \(printable($0.reason))" }
        let summary = "\(result.images) images with \(result.bytes) bytes read, \(result.damage.count) files damaged"
        return (lines + [summary]).joined(separator: "\n")
    }

    private static func json(of result: Verification) -> String {
        let damage = result.damage.map { ["path": .string($0.path), "reason": .string($0.reason)] as JSON }
        let document: JSON = [
            "format": 1, "images": .number(result.images), "bytes": .number(result.bytes),
            "damage": .lines(.array(damage)),
        ]
        return document.text
    }
}

/// A line on a terminal that tells how far the work is; nothing elsewhere.
private final class Progress: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let done = Mutex(0)

    /// One more is done.
    func count(of total: Int) {
        guard isTerminal else { return }
        done.withLock { done in
            done += 1
            if done * 100 / total > (done - 1) * 100 / total { write("\r\(done * 100 / total) % of \(total) images") }
        }
    }

    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        _ = try? FileDescriptor.standardError.writeAll(text.utf8)
    }
}
