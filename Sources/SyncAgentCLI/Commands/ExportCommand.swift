// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Fleet
import Glibc
import IconCache
import SyncAgent
import SystemPackage

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Copy the cache to a folder or bucket, as an upstream for other agents.",
        usage: "syncagent export <dir> | --rclone <remote:path> [--sign <key>] [options]",
        discussion: """
            Copies what is new, then the manifest; files that no export has named for a week are removed. The target is a \
            valid upstream at every moment, also if the export is interrupted, and the next one continues. It works \
            beside a running agent, and without one. Exit code 0 means that everything the manifest names is there.

            The folder must be empty, new, or an earlier export. With --rclone, rclone writes to a bucket.

            Examples:
              syncagent export /srv/www/icons --sign /etc/syncagent/export.key
              syncagent export --rclone s3:bucket/icons

            Exit codes: 1 the cache is damaged, or the target has a newer export; 64 the command line is wrong; \
            73 the target cannot be written; 75 another export is writing there; 78 the key cannot be used.
            """)

    @Argument(help: ArgumentHelp("The folder to export to.", valueName: "dir"), completion: .directory)
    var folder: String?

    @Option(help: ArgumentHelp("The rclone remote and path to export to.", valueName: "remote:path"))
    var rclone: String?

    @Option(
        help: ArgumentHelp("Sign the manifest with this secret key.", valueName: "key"),
        completion: .file(extensions: ["key"]))
    var sign: String?

    @Option(help: ArgumentHelp("How long to keep files that the export no longer names.", valueName: "time"))
    var keep = "7d"

    @Flag(help: "Compare every file at the target with its digest, and replace damaged ones.")
    var verify = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let keep = try usage()
        let key = try Exit.with(.badConfiguration) { try sign.map { try KeyFiles.read(FilePath($0)) } }
        let cache = IconCache(at: try await configuration.cacheFolder())
        do {
            if let rclone {
                let lock = try RemoteLock(for: rclone)
                defer { withExtendedLifetime(lock) {} }
                try await export(cache, to: RcloneTarget(name: rclone, cache: cache.folder), key, keep)
            } else {
                // Web servers must be able to read the files, whatever the shell's umask is.
                umask(0o022)
                let path = Self.absolute(FilePath(folder ?? ""))
                try await export(cache, to: ExportFolder(path, apartFrom: cache.folder), key, keep)
            }
        } catch let error where error is ExitCode || error is IconCacheError {
            throw error
        } catch let error as ExportError {
            throw Exit.because("\(error)", code: error.exit)
        } catch let error as FileError {
            throw Exit.because(
                "\(error). The target is in its previous state, or the export is complete."
                    + Self.remedy(for: error.errno), code: .folder)
        } catch {
            for line in (error as? CommandFailure)?.messages ?? [] { Message.error("rclone: \(line)") }
            throw Exit.because("\(error)", code: .folder)
        }
    }

    private func export(
        _ cache: IconCache, to target: some ExportTarget, _ key: SecretKey?, _ keep: Duration
    ) async throws {
        for _ in 0..<Self.rounds {
            let source = try ExportSource(cache)
            defer { source.end() }
            let manifest = source.manifest
            let signature = key?.sign(
                source.text, trustedComment: "syncagent, generation \(manifest.generation) of \(manifest.published)")
            let export = Export(of: source, signature: signature?.text, keep: keep, verifies: verify)
            let report = try await export.run(to: target, at: AgentClock.wallTime)
            try Message.output(sentence: Self.sentence(report, target.name, key?.publicKey.id))
            // Export again if the agent has published: a systemd path unit does not trigger while its service runs.
            guard (try? cache.manifest()) != manifest else { return }
        }
    }

    /// The limit on generations exported in one run, if the agent keeps publishing.
    private static let rounds = 10

    /// Checks the combination of options; returns the time of `--keep`.
    private func usage() throws -> Duration {
        guard (folder == nil) != (rclone == nil), folder?.isEmpty != true else {
            throw Exit.because("Name a folder or --rclone REMOTE:PATH, and not both.", code: .usage)
        }
        if let rclone, !rclone.dropFirst().contains(":") || rclone.starts(withBytes: "-") {
            throw Exit.because(
                "\(rclone) is not an rclone remote: write REMOTE:PATH, or name a folder.", code: .usage)
        }
        guard let keep = DurationText.parse(keep) else {
            let longest = DurationText.format(DurationText.longest)
            throw Exit.because(
                "\(keep) is not a time: write --keep 7d, for example, and at most \(longest).", code: .usage)
        }
        return keep
    }

    /// Advice for an error at the target, with a leading space; empty if there is none.
    static func remedy(for error: Errno) -> String {
        guard [.permissionDenied, .notPermitted].contains(error) else { return "" }
        return
            " Another user, such as root, may have exported there before: run chown -R USER on the target, or remove it."
    }

    /// The target with the working folder before it.
    static func absolute(_ path: FilePath) -> FilePath {
        let whole = path.isRelative ? Configuration.currentDirectory()?.pushing(path) ?? path : path
        // The folder before “..” may be a link, which the system resolves.
        return path.components.contains { $0.kind == .parentDirectory } ? whole : whole.lexicallyNormalized()
    }

    private static func sentence(_ report: Export.Report, _ target: String, _ key: KeyID?) -> String {
        var parts: [String] = []
        if report.icons > 0 { parts.append(counted(report.icons, "icon")) }
        if report.lists > 0 { parts.append(counted(report.lists, "list")) }
        let copied =
            parts.isEmpty
            ? "no new files" : "\(parts.joined(separator: " and ")) copied (\(ByteCount(report.bytes).rounded))"
        let signed = report.isSigned ? key.map { ", signature of key \($0) written" } ?? "" : ""
        let removed = report.removed > 0 ? ", \(counted(report.removed, "old file")) removed" : ""
        let due = report.unnamed > 0 ? ", \(counted(report.unnamed, "file")) to be removed later" : ""
        let was = report.isUnchanged ? "was already at" : "exported to"
        return "Generation \(report.generation) \(was) \(target): \(copied)\(signed)\(removed)\(due)."
    }
}

extension ExportError {
    fileprivate var exit: Exit.Code {
        switch self {
        case .foreign, .insideCache, .wrongKind, .incomplete: .folder
        case .damagedSource, .newer, .conflict, .laterFormat, .unsigned, .privateIcons: .attention
        case .busy: .busy
        }
    }
}
