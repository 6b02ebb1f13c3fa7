// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage

extension Scenario {
    /// Icons looked up by their URLs; every fifth is not there.
    static let lookUps = Scenario(name: "look-ups", size: 1000, result: 800) { count in
        let cache = try WrittenCache(icons: count)
        return {
            try cache.urls.count { try cache.reader.icon(for: $0) != nil }
        }
    }

    /// Every entry of a list, with its image's path, ten times.
    static let documents = Scenario(name: "documents", size: 1000, result: 10_000) { count in
        let cache = try WrittenCache(icons: count)
        return {
            var paths = 0
            for _ in 0..<10 {
                for app in try cache.reader.apps(in: WrittenCache.list) ?? [] {
                    guard case .ready(let image) = app.state else { continue }
                    paths += cache.reader.path(of: image).isAbsolute ? 1 : 0
                }
            }
            return paths
        }
    }
}

/// A cache with one list in a temporary folder, as far as look-ups read it; it goes with this object.
private final class WrittenCache {
    static let list: ListName = "apps.plist"
    let folder: String
    let urls: [IconURL]
    var reader: IconCache { IconCache(at: FilePath(folder)) }

    init(icons count: Int) throws {
        // Not in TMPDIR: the length of the path counts.
        var template = Array("/tmp/syncagent-costs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        urls = (0..<count).map { Fixed.url($0, origin: $0 % 7) }
        for (number, url) in urls.enumerated() where number % 5 != 0 {
            try write([], to: CacheLayout.byURL(url))
        }
        let apps = urls.map { url in
            AppListDocument.App(name: "App", icon: url, download: nil, state: .ready(Fixed.image(of: url)))
        }
        let source = AppListDocument.Source(sha256: .of("source"), bytes: 1, modified: Fixed.start)
        let document = AppListDocument(list: Self.list, source: source, apps: apps).text
        let digest = Digest.of(document)
        try write(document, to: CacheLayout.document(digest))
        let entry = Manifest.List(sha256: digest, apps: count, ready: count, pending: 0, failed: 0)
        let manifest = Manifest(generation: 1, published: Fixed.start, lists: [Self.list: entry]).text
        try write(manifest, to: CacheLayout.generation(1))
        try write(manifest, to: CacheLayout.manifest)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ text: [UInt8], to path: String) throws {
        let path = FilePath(folder).appending(path)
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text).write(to: URL(filePath: path.string))
    }
}
