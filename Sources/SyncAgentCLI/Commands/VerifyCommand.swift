// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import IconCache
import SyncAgent
import Synchronization
import SystemPackage

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify every published file against its digest.",
        usage: "syncagent verify [--repair] [--json] [options]",
        discussion: """
            It needs no agent and no write permission. With --repair, a running agent downloads damaged images again. \
            Without one, only links to intact images are repaired, and nothing is downloaded.

            Examples:
              syncagent verify
              syncagent verify --repair

            Exit codes: 1 something is damaged, or was before the repair; 73 the cache cannot be written; 75 an agent \
            holds the cache and does not respond.
            """)

    @Flag(help: "Repair damaged files.")
    var repair = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let folders = try configuration.folders()
        let result: Verification
        do {
            result = try await verify(folders.cache)
        } catch let error as IconCacheError {
            if repair { throw try await repairManifest(error) }
            throw error
        }
        if output.json { try Message.output(Self.json(of: result)) } else { try Message.output(Self.lines(of: result)) }
        guard !result.damage.isEmpty else { return }
        // Whatever agent is running, it has another cache.
        if try CacheFolder(folders.cache).isCopy {
            throw Exit.because(
                "\(folders.cache) is a copy of a cache, such as an export, which no agent repairs: export or copy it again.",
                code: repair ? .folder : .attention)
        }
        if repair {
            try await repair(result, folders)
        } else {
            Message.error("Repair with: \(configuration.command("syncagent verify --repair"))")
        }
        throw Exit.with(.attention)
    }

    /// Verifies the cache, and shows the progress on a terminal.
    private func verify(_ cache: FilePath) async throws -> Verification {
        let display = LiveDisplay(on: output.messages)
        defer { display.clear() }
        let done = Mutex(0)
        return try await Verification.run(IconCache(at: cache)) { total in
            let done = done.withLock { done in
                done += 1
                return done
            }
            display.show([StyledText("\(done * 100 / max(total, 1))% of \(counted(total, "image"))")])
        }
    }

    /// Has a running agent write a manifest again that is missing or damaged; returns the error to end with.
    private func repairManifest(_ error: IconCacheError) async throws -> any Error {
        let problem: String
        switch error {
        case .noCache(let path): problem = "There is no icon cache at \(path)"
        case .damaged(let path, let reason): problem = "\(path) is damaged: \(printable(reason))"
        case .unreadable, .unknownFormat: return error
        }
        guard try await configuration.askIfRunning({ try await $0.repair([]) }) != nil else { return error }
        return Exit.because(
            "\(problem). The agent is writing it again, and downloads images that are missing. Verify again with: "
                + configuration.command("syncagent verify"), code: .attention)
    }

    private func repair(_ result: Verification, _ folders: AgentFolders) async throws {
        let images = Set(result.damage.compactMap(\.image))
        if try await configuration.askIfRunning({ try await $0.repair(images) }) != nil {
            let files = result.damage.count { $0.image != nil }
            if files > 0 {
                Message.error(
                    "The agent is repairing \(counted(files, "file")). Verify again with: "
                        + configuration.command("syncagent verify"))
            }
        } else {
            try await repairAlone(result, folders)
        }
        if result.damage.contains(where: { $0.image == nil }) {
            Message.error("Some list documents are damaged: restart the agent to write them again.")
        }
    }

    /// Repairs the damage that needs no download, and reports the other damage.
    private func repairAlone(_ result: Verification, _ folders: AgentFolders) async throws {
        let trouble: OfflineRepair.Trouble?
        do {
            trouble = try await OfflineRepair.run(folders.cache)
        } catch let error as FolderError where error.isHeld {
            throw Exit.because("\(error)", code: .busy)
        } catch {
            throw Exit.because("Cannot repair \(folders.cache): \(error)", code: .folder)
        }
        let left = try await Verification.run(IconCache(at: folders.cache)) { _ in }
        let repaired = Set(result.damage).subtracting(left.damage).count
        let sentence = "\(repaired) of \(counted(result.damage.count, "damaged file")) repaired"
        let lost = Set(left.damage.compactMap(\.image)).count
        if let trouble, trouble.isFlush {
            Message.error("\(sentence), but this may be lost in a power failure: \(trouble.reason).")
        } else {
            Message.error("\(sentence).")
        }
        if let trouble, !trouble.isFlush {
            Message.error("Cannot repair everything: \(trouble.reason).")
        } else if lost > 0 {
            Message.error(
                "\(counted(lost, "image")) must be downloaded or rendered again: start the agent, then run syncagent "
                    + "verify --repair again.")
        }
    }

    private static func lines(of result: Verification) -> [String] {
        result.damage.map { "\($0.path): \($0.reason)" }
            + [
                "\(counted(result.images, "image")) (\(ByteCount(result.bytes).rounded)) verified, "
                    + "\(counted(result.damage.count, "file")) damaged"
            ]
    }

    private static func json(of result: Verification) -> JSON {
        let damage = result.damage.map { ["path": .string($0.path), "reason": .string($0.reason)] as JSON }
        return [
            "format": 1, "images": .number(result.images), "bytes": .number(result.bytes),
            "damage": .lines(.array(damage)),
        ]
    }
}
