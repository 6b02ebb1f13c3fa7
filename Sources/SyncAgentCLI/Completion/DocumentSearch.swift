// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import FoundationEssentials
import IconCache
import SystemPackage

/// Finds cache entries whose URLs begin with a text, fast enough for completion while typing.
///
/// Documents have keys in a fixed order, so they are searched, not parsed. URLs with JSON escapes, and very long ones, are
/// skipped.
struct DocumentSearch {
    enum Status {
        case ready, pending, failed
    }

    typealias Entry = (icon: IconURL, status: Status)

    private static let longest = 1000
    /// The limit on bytes read of older documents.
    private static let mostOfThePast = 64 << 20
    private static let icon = Array("\"icon\": \"".utf8)
    private static let status = Array("\"status\": \"".utf8)
    private static let quote = [UInt8(ascii: "\"")]

    private let cache: IconCache
    private let start: [UInt8]

    init(in cache: FilePath, start: String) {
        self.cache = IconCache(at: cache)
        // The pattern has no closing quote, because the URL continues.
        self.start = Self.icon + JSON.quoted(start).utf8.dropFirst().dropLast()
    }

    /// The entries of the newest generation, in the given lists or in all.
    ///
    /// - Throws: `IconCacheError` if the manifest cannot be read; unreadable documents are skipped.
    func entries(of lists: [ListName]? = nil) throws -> [Entry] {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        return snapshot.manifest.lists.filter { lists?.contains($0.key) ?? true }
            .flatMap { entries(in: $0.value.document).found }
    }

    /// The URLs that only older generations name, and whose images are still on disk.
    func retired() throws -> [IconURL] {
        let manifest = try cache.manifest()
        var seen = Set(manifest.lists.values.map(\.document))
        let current = Set(seen.flatMap { entries(in: $0).found.map(\.icon) })
        var retired: [IconURL] = []
        var left = Self.mostOfThePast
        let folder = cache.folder.appending(CacheLayout.generations)
        let numbers = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            .compactMap(CacheLayout.generationNumber).filter { $0 != manifest.generation }
        for number in numbers.sorted(by: >) where left > 0 {
            let path = cache.folder.pushing(FilePath(CacheLayout.generation(number)))
            guard let older = (try? FileBytes.read(path)).flatMap({ try? Manifest(json: $0) }) else { continue }
            for list in older.lists.values where left > 0 && seen.insert(list.document).inserted {
                let (found, bytes) = entries(in: list.document)
                retired += found.filter { $0.status == .ready && !current.contains($0.icon) }.map(\.icon)
                left -= bytes
            }
        }
        return retired
    }

    /// The entries in a document, and its size.
    ///
    /// JSON escapes quotes in strings, so a quoted key is always a key.
    private func entries(in document: String) -> (found: [Entry], bytes: Int) {
        guard let json = try? FileBytes.read(cache.folder.pushing(FilePath(document))) else { return ([], 0) }
        var found: [Entry] = []
        var end = 0
        func pass(_ mark: [UInt8]) -> Bool {
            json.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress,
                    let place = memmem(start + end, bytes.count - end, mark, mark.count)
                else { return false }
                end = UnsafeRawPointer(place) - start + mark.count
                return true
            }
        }
        while pass(start) {
            let begin = end - start.count + Self.icon.count
            guard pass(Self.quote), case let url = json[begin..<end - 1], pass(Self.status), end < json.count else {
                break
            }
            guard url.count <= Self.longest, !url.contains(UInt8(ascii: "\\")) else { continue }
            let isReady = json[end] == UInt8(ascii: "r")
            let status: Status = isReady ? .ready : json[end] == UInt8(ascii: "f") ? .failed : .pending
            found.append((IconURL(String(decoding: url, as: UTF8.self)), status))
        }
        return (found, json.count)
    }
}
