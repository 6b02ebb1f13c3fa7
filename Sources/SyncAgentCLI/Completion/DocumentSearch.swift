// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage

/// Finds cache entries whose URLs begin with a text, fast enough for completion while typing.
///
/// Documents have one app a line and keys in a fixed order, so they are searched, not parsed. URLs with JSON escapes,
/// and very long ones, are skipped.
struct DocumentSearch {
    enum Status {
        case ready, pending, failed
    }

    private static let longest = 1000
    /// The limit on bytes read of older documents.
    private static let mostOfThePast = 64 << 20

    private let cache: IconCache
    private let start: [UInt8]

    init(in cache: FilePath, start: String) {
        self.cache = IconCache(at: cache)
        // Without the closing quote: the URL continues.
        self.start = Array("\"icon\": \(JSON.quoted(start).dropLast())".utf8)
    }

    /// Finds the entries of the newest generation, in some lists or all; passes each URL and its state.
    ///
    /// - Throws: `IconCacheError` if the manifest cannot be read; unreadable documents are skipped.
    func entries(of lists: [ListName]? = nil, visit: (IconURL, Status) -> Void) throws {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        for (list, entry) in snapshot.manifest.lists where lists?.contains(list) ?? true {
            search(entry.document, visit)
        }
    }

    /// Finds URLs that only older generations name, and whose images are still on disk.
    func retired(visit: (IconURL) -> Void) throws {
        let manifest = try cache.manifest()
        var seen = Set(manifest.lists.values.map(\.document))
        var current: Set<IconURL> = []
        for document in seen { search(document) { url, _ in current.insert(url) } }
        var left = Self.mostOfThePast
        let folder = cache.folder.appending(CacheLayout.generations)
        let numbers = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            .compactMap(CacheLayout.generationNumber).filter { $0 != manifest.generation }
        for number in numbers.sorted(by: >) where left > 0 {
            let path = cache.folder.pushing(FilePath(CacheLayout.generation(number)))
            guard let older = (try? FileBytes.read(path)).flatMap({ try? Manifest(json: $0) }) else { continue }
            for list in older.lists.values where left > 0 && seen.insert(list.document).inserted {
                left -= search(list.document) { url, status in
                    if status == .ready, !current.contains(url) { visit(url) }
                }
            }
        }
    }

    /// Searches a document; returns its size in bytes.
    @discardableResult
    private func search(_ document: String, _ visit: (IconURL, Status) -> Void) -> Int {
        guard let json = try? FileBytes.read(cache.folder.pushing(FilePath(document))) else { return 0 }
        json.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let line = rest.beginning(before: "\n")
                rest = rest.dropping(line.count + 1)
                visitEntry(on: line, visit)
            }
        }
        return json.count
    }

    /// Searches a line; JSON escapes quotes in strings, so a quoted key is always a key.
    private func visitEntry(on line: UnsafeRawBufferPointer, _ visit: (IconURL, Status) -> Void) {
        guard let position = line.position(of: start) else { return }
        let value = line.dropping(position + "\"icon\": \"".utf8.count)
        let url = value.beginning(before: "\"")
        guard url.count <= Self.longest, url.beginning(before: "\\").count == url.count,
            let key = value.dropping(url.count).position(of: Self.status)
        else { return }
        let status: Status =
            switch value.dropping(url.count + key + Self.status.count).first {
            case UInt8(ascii: "r"): .ready
            case UInt8(ascii: "f"): .failed
            default: .pending
            }
        visit(IconURL(String(decoding: url, as: UTF8.self)), status)
    }

    private static let status = Array("\"status\": \"".utf8)
}

extension UnsafeRawBufferPointer {
    /// The bytes before a character; all if it does not occur.
    fileprivate func beginning(before mark: Unicode.Scalar) -> UnsafeRawBufferPointer {
        guard let start = baseAddress, let found = memchr(start, CInt(mark.value), count) else { return self }
        return UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(found) - start)
    }

    fileprivate func dropping(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Swift.min(length, count)...])
    }

    fileprivate func position(of pattern: [UInt8]) -> Int? {
        guard let start = baseAddress, let first = pattern.first else { return nil }
        var position = 0
        while count - position >= pattern.count,
            let found = memchr(start + position, CInt(first), count - position - pattern.count + 1)
        {
            let offset = UnsafeRawPointer(found) - start
            if memcmp(found, pattern, pattern.count) == 0 { return offset }
            position = offset + 1
        }
        return nil
    }
}
