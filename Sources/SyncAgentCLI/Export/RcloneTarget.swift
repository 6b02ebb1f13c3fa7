// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Subprocess
import SyncAgent
import SystemPackage

/// A bucket or another remote of rclone(1), version 1.60 or later.
///
/// Each step is a command of its own: rclone does not order the files of one command.
struct RcloneTarget: ExportTarget {
    /// The remote as on the command line: `remote:bucket/path`.
    let name: String
    let cache: FilePath

    func contents() async throws -> ExportContents {
        let filters = ["/\(CacheLayout.manifest)", "/\(CacheLayout.icons)/**", "/\(CacheLayout.lists)/**"]
        let result = try await rclone(
            ["lsf", "--recursive", "--files-only", "--fast-list", "--format", "sp", "--separator", " ", name]
                + (filters + ["/\(CacheLayout.signatures)/**"]).flatMap { ["--include", $0] },
            // Exit code 3: the folder does not exist yet.
            accepting: [0, 3])
        var contents = ExportContents()
        for line in result.output.split(atByte: "\n") {
            let words = line.split(atByte: " ", maxSplits: 1)
            guard words.count == 2, let size = Int(words[0]) else { continue }
            contents.sizes[words[1]] = size
        }
        return contents
    }

    func read(_ path: String) async throws -> [UInt8]? {
        // Only some remotes let `rclone cat` tell a missing file from other errors.
        let listing = try await rclone(
            ["lsf", "--files-only", "--include", "/\(path)", "--recursive", name], accepting: [0, 3])
        guard listing.output.split(atByte: "\n").contains(path) else { return nil }
        return Array(try await rclone(["cat", file(path)]).output.utf8)
    }

    func add(_ files: [ExportFile], from source: ExportSource) async throws {
        for file in files { _ = try source.bytes(of: file) }
        // The caller knows which files are missing: without --no-check-dest, rclone would check each one again.
        try await rclone(
            ["copy", "--files-from-raw", "-", "--no-check-dest", "--no-traverse"]
                + upload(ExportLayout.cacheControl(of: files[0].path)) + [cache.string, name],
            reading: files.map { $0.path + "\n" }.joined())
    }

    /// Does nothing: when rclone ends, the remote has the files.
    func settle(_ paths: [String]) {}

    func put(_ bytes: [UInt8], at path: String) async throws {
        // Below the cutoff, rclone writes the file in a single request.
        try await rclone(
            ["rcat", "--streaming-upload-cutoff", "1G"] + upload(ExportLayout.cacheControl(of: path)) + [file(path)],
            reading: String(decoding: bytes, as: UTF8.self))
    }

    func remove(_ paths: [String]) async throws {
        try await rclone(
            ["delete", "--files-from-raw", "-", "--no-traverse", name], reading: paths.map { $0 + "\n" }.joined())
    }

    func damaged(among files: [ExportFile], of source: ExportSource) async throws -> [ExportFile] {
        guard !files.isEmpty else { return [] }
        for file in files { _ = try source.bytes(of: file) }
        // --download: many remotes store no digests, so rclone would compare only sizes.
        let result = try await rclone(
            ["check", "--one-way", "--download", "--files-from-raw", "-", "--combined", "-", cache.string, name],
            reading: files.map { $0.path + "\n" }.joined(), accepting: [0, 1])
        // Lines are a sign and a path: “=” equal, “*” different, “+” missing, “!” unreadable.
        var signs: [String: Unicode.Scalar] = [:]
        for line in result.output.split(atByte: "\n") {
            signs[line.dropping(bytes: 2)] = line.unicodeScalars.first
        }
        if let unread = files.first(where: { !["=", "*", "+"].contains(signs[$0.path]) }) {
            throw failure("check", result.messages, because: "\(unread.path) could not be compared")
        }
        return files.filter { signs[$0.path] != "=" }
    }

    private func upload(_ cacheControl: String) -> [String] {
        // A key that may only upload can neither list nor create buckets.
        ["--s3-no-check-bucket", "--header-upload", "Cache-Control: \(cacheControl)"]
    }

    private func file(_ path: String) -> String {
        name.ends(withBytes: ":") || name.ends(withBytes: "/") ? name + path : "\(name)/\(path)"
    }

    @discardableResult
    private func rclone(
        _ arguments: [String], reading text: String = "", accepting codes: Set<Int32> = [0]
    ) async throws -> (output: String, messages: String) {
        var changes: [Environment.Key: String?] = [:]
        if let authorities = Variable["AWS_CA_BUNDLE"] {
            // With AWS_CA_BUNDLE, rclone 1.60 fails before its first request to S3.
            changes["AWS_CA_BUNDLE"] = .some(nil)
            if Variable["RCLONE_CA_CERT"] == nil { changes["RCLONE_CA_CERT"] = authorities }
        }
        do {
            let result = try await Subprocess.run(
                .name("rclone"), arguments: Arguments(arguments + ["--stats", "0"]),
                environment: .inherit.updating(changes), input: .string(text), output: .string(limit: 1 << 30),
                error: .string(limit: 1 << 20))
            guard case .exited(let code) = result.terminationStatus, codes.contains(code) else {
                throw failure(arguments[0], result.standardError)
            }
            return (result.standardOutput, result.standardError)
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw CommandFailure(
                description: "rclone is not installed: apt install rclone, or see https://rclone.org/install.")
        } catch let error as SubprocessError {
            throw CommandFailure(description: "Cannot run rclone \(arguments[0]): \(error).")
        }
    }

    private func failure(_ command: String, _ messages: String, because reason: String? = nil) -> CommandFailure {
        CommandFailure(
            description:
                "rclone \(command) failed for \(name)\(reason.map { ": \($0)" } ?? ""). "
                + "The target is in its previous state, or the export is complete.",
            messages: messages.split(atByte: "\n").suffix(20))
    }
}
