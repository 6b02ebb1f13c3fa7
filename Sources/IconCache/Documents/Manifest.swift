// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// One generation of the cache: which app lists there are, and where the document of each one is.
///
/// `manifest.json` is the newest; `generations/` holds each that is current, in its grace, or leased.
public struct Manifest: Equatable, Sendable {
    /// What a manifest says of one app list.
    public struct List: Equatable, Sendable {
        /// The SHA-256 of the list document, which is also its name.
        public var sha256: Digest
        /// How many entries the list has.
        public var apps: Int
        /// How many of them have an image on disk.
        public var ready: Int
        /// How many have no image yet.
        public var pending: Int
        /// How many could not be fetched, and have no older image.
        public var failed: Int

        /// The document's path, relative to the cache folder.
        public var document: String { CacheLayout.document(sha256) }

        package init(sha256: Digest, apps: Int, ready: Int, pending: Int, failed: Int) {
            self.sha256 = sha256
            self.apps = apps
            self.ready = ready
            self.pending = pending
            self.failed = failed
        }
    }

    /// The number of this generation; it only grows.
    public var generation: Int
    /// When it was published.
    public var published: Timestamp
    /// The app lists, by file name.
    public var lists: [String: List]

    package init(generation: Int, published: Timestamp, lists: [String: List]) {
        self.generation = generation
        self.published = published
        self.lists = lists
    }

    /// The JSON text: keys in a fixed order, one list a line, sorted by name.
    package var json: String {
        let lists = self.lists.sorted { $0.key < $1.key }.map { name, list in
            (
                key: name,
                value: [
                    "document": .string(list.document), "sha256": .string(list.sha256.hex), "apps": .number(list.apps),
                    "ready": .number(list.ready), "pending": .number(list.pending), "failed": .number(list.failed),
                ] as JSON
            )
        }
        let object: JSON = [
            "format": .number(CacheLayout.format), "generation": .number(generation),
            "published": .string(published.description), "lists": .lines(.object(lists)),
        ]
        return object.text + "\n"
    }

    /// Reads a manifest.
    ///
    /// - Throws: ``IconCacheError/damaged(path:reason:)`` if the text is no manifest, and
    ///   ``IconCacheError/unknownFormat(path:format:)`` if it is one of a later format.
    package init(json: [UInt8], path: String) throws(IconCacheError) {
        struct Root: FormattedDocument {
            var format: Int
            var generation: Int
            var published: String
            var lists: [String: Entry]
        }
        struct Entry: Decodable {
            var sha256: String
            var apps, ready, pending, failed: Int
        }
        let root = try DocumentFormat.decode(Root.self, from: json, path: path)
        guard CacheLayout.generationNumbers.contains(root.generation) else {
            throw IconCacheError.damaged(path: path, reason: "“generation” is out of range")
        }
        guard let published = Timestamp(root.published) else {
            throw IconCacheError.damaged(path: path, reason: "“published” is no RFC 3339 time in UTC")
        }
        var lists: [String: List] = [:]
        for (name, entry) in root.lists {
            guard let sha256 = Digest(hex: entry.sha256) else {
                throw IconCacheError.damaged(path: path, reason: "“sha256” of \(name) is no SHA-256 digest")
            }
            lists[name] = List(
                sha256: sha256, apps: entry.apps, ready: entry.ready, pending: entry.pending, failed: entry.failed)
        }
        self.init(generation: root.generation, published: published, lists: lists)
    }
}

/// What manifests and list documents have in common.
protocol FormattedDocument: Decodable {
    var format: Int { get }
}

/// Manifests and list documents as JSON: one of another format is never read as if it were one of this.
enum DocumentFormat {
    private struct Version: FormattedDocument {
        var format: Int
    }

    static func decode<T: FormattedDocument>(
        _ type: T.Type, from json: [UInt8], path: String
    ) throws(IconCacheError) -> T {
        let data = Data(json)
        let version: Int
        do {
            let document = try JSONDecoder().decode(type, from: data)
            version = document.format
            if version == CacheLayout.format { return document }
        } catch {
            guard let other = try? JSONDecoder().decode(Version.self, from: data), other.format != CacheLayout.format
            else { throw IconCacheError.damaged(path: path, reason: "it is not the JSON it should be (\(error))") }
            version = other.format
        }
        throw IconCacheError.unknownFormat(path: path, format: version)
    }
}
