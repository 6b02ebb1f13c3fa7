// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Glibc
import Reports
import SyncAgent
import SystemPackage

struct PurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove all images and forget everything but the app lists.",
        usage: "syncagent purge [--yes] [options]",
        discussion: """
            Removes images, validators, failures, pins, mutes and the pause. A running agent then downloads all icons \
            again; without an agent that happens at its next start. Images that a reader leases stay until the lease ends. \
            App lists and settings are never touched. The command asks for confirmation on a terminal, and needs --yes \
            elsewhere.

            Examples:
              syncagent purge
              syncagent purge --yes

            Exit codes: 1 not confirmed, refused because eviction is suspended, still under way, or something could not be removed; 64 no terminal and no --yes; 73 there is \
            no such folder, or it cannot be written; 75 an agent holds \
            the cache and cannot be asked.
            """)

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let folders = try configuration.folders()
        if !yes {
            let folders = try await configuration.agentFolders()
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                throw Exit.because("purge removes all images in \(folders.cache): confirm it with --yes.", code: .usage)
            }
            guard
                Self.isConfirmed(
                    "Remove all images in \(folders.cache), also those that apps keep while their new ones cannot be "
                        + "downloaded, and forget everything but the app lists?")
            else {
                throw Exit.because("Nothing was removed.")
            }
        }
        let report = try await LiveDisplay.waitingForReaders(on: output.messages) {
            try await configuration.askIfRunning { try await $0.purge() }
        }
        switch report?.state {
        case nil: try await purge(folders)
        case .done: try Message.output(sentence: "Purged. All icons are being downloaded again.")
        case .underWay:
            throw Exit.because("The purge is still running. “syncagent events --follow” shows when it is done.")
        case .refused, .failed: throw Exit.because(report?.sentence ?? "")
        }
    }

    private func purge(_ folders: AgentFolders) async throws {
        // A misspelt cache folder must not delete the state of another.
        guard !folders.cache.isMissing || configuration.cache == nil && !folders.state.isMissing else {
            throw Exit.because("The cache folder \(folders.cache) does not exist. Nothing was removed.", code: .folder)
        }
        let (refusal, readable) = try await configuration.diskStatus(configuration.settingsOrWarning()).purgeReview()
        if let refusal { throw Exit.because(refusal.sentence) }
        let result: OfflinePurge.Result
        do {
            result = try await OfflinePurge.run(cache: folders.cache, state: folders.state, readable: readable)
        } catch let error as FolderError {
            throw Exit.because("\(error)", code: error.isHeld ? .busy : .folder)
        } catch {
            throw Exit.because("\(error)", code: .folder)
        }
        try Message.output(
            sentence: "\(counted(result.images, "image")) removed. The agent downloads all icons at its next start.")
        if !result.kept.isEmpty {
            Message.error("Readers hold a lease on some images: the agent removes them when the leases end.")
        }
        if result.failures > 0 {
            let reason = result.reason.map { ": \($0)" } ?? ""
            throw Exit.because("\(counted(result.failures, "file")) could not be removed\(reason).")
        }
    }

    /// Asks on the terminal; anything but “y” or “yes” means no.
    private static func isConfirmed(_ question: String) -> Bool {
        let lines = StyledText("\(question) [y/N] ").wrapped(to: Screen.size(of: .standardError)?.columns)
        FileDescriptor.standardError.tryWriting(lines.map(\.plain).joined(separator: "\n"))
        let answer = readLine(strippingNewline: true)?.asciiLowercased
        return answer == "y" || answer == "yes"
    }
}
