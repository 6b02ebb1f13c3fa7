// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage
import TestSupport

@testable import SyncAgent

/// A cache, and a folder that it is exported to.
struct ExportWorld {
    let cache: FilePath
    let target: FilePath

    static func with(_ body: (ExportWorld) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let world = ExportWorld(cache: folder.appending("cache"), target: folder.appending("export"))
            try makeFolder(world.cache)
            try await body(world)
        }
    }

    /// Publishes a generation whose icons have images with these texts.
    func publish(_ generation: Int, _ images: String..., published: Timestamp = Sample.time) throws {
        let apps = images.map { text in
            AppListDocument.App(
                name: nil, icon: IconURL("https://example.com/\(text)"), download: nil,
                state: .ready(Sample.image(text)))
        }
        for text in images {
            let path = cache.appending(Sample.image(text).path)
            try FileManager.default.createDirectory(
                atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
            try write(text, to: path)
        }
        let document = Sample.document("apps.plist", apps: apps)
        try Sample.publish(generation, [document], in: cache)
        guard published != Sample.time else { return }
        var manifest = Sample.manifest(generation, [document])
        manifest.published = published
        try write(manifest.text, to: cache.appending(CacheLayout.manifest))
    }

    /// Exports.
    @discardableResult
    func export(
        signature: [UInt8]? = nil, keep: Duration = .seconds(7 * 86_400), verifies: Bool = false,
        now: Timestamp = Sample.time
    ) async throws -> Export.Report {
        let source = try ExportSource(IconCache(at: cache))
        defer { source.end() }
        let folder = try ExportFolder(target, apartFrom: cache)
        return try await Export(of: source, signature: signature, keep: keep, verifies: verifies).run(
            to: folder, at: now)
    }

    /// The paths of the files at the target, sorted, without the export's own.
    var files: [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: target.string)) ?? []
        return paths.filter { path in
            var status = stat()
            guard !path.hasPrefix(ExportLayout.own) else { return false }
            return lstat(target.appending(path).string, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
        }.sorted()
    }

    /// What the manifest of the target names, with the manifest itself.
    var named: [String] { (UpstreamCheck(target).named + [CacheLayout.manifest]).sorted() }
}
