// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// One generation of the cache: its app lists, and the document of each.
///
/// `manifest.json` is the newest generation. `generations/` has the current one, and those in their grace period or
/// leased.
public struct Manifest: Equatable, Sendable {
    /// The entry of one app list.
    public struct List: Equatable, Sendable {
        /// The SHA-256 of the list document, which is also its file name.
        public var sha256: Digest
        /// The number of entries in the list.
        public var apps: Int
        /// The number of entries that have an image on disk.
        public var ready: Int
        /// The number of entries whose icon was not downloaded yet.
        public var pending: Int
        /// The number of entries whose icon could not be downloaded, and that have no older image.
        public var failed: Int
        /// Whether icons of the cache may come from behind credentials and must not be exported.
        package var isPrivate: Bool

        /// The document's path, relative to the cache folder.
        public var document: String { CacheLayout.document(sha256) }

        package init(
            sha256: Digest, apps: Int, ready: Int, pending: Int, failed: Int, isPrivate: Bool = false
        ) {
            self.sha256 = sha256
            self.apps = apps
            self.ready = ready
            self.pending = pending
            self.failed = failed
            self.isPrivate = isPrivate
        }
    }

    /// The generation's number; each publication has a higher one than the last.
    public var generation: Int
    /// When the generation was published.
    public var published: Timestamp
    /// The app lists, by file name.
    public var lists: [ListName: List]

    package init(generation: Int, published: Timestamp, lists: [ListName: List]) {
        self.generation = generation
        self.published = published
        self.lists = lists
    }

    /// Whether icons of the cache may come from behind credentials and must not be exported.
    package var isPrivate: Bool { lists.values.contains(where: \.isPrivate) }

    /// The JSON text: keys in a fixed order, one list per line, sorted by name.
    package var text: [UInt8] {
        var names: [ListName] = []
        return text(inOrder: &names)
    }

    /// The JSON text.
    ///
    /// - Parameter names: The sorted names of another generation's lists; on return, the sorted names of this one's.
    ///   Most generations have the same lists as the one before, and many names take long to sort.
    /// - Returns: The bytes.
    package func text(inOrder names: inout [ListName]) -> [UInt8] {
        var entries = names.compactMap { lists[$0] }
        if names.count != lists.count || entries.count != lists.count {
            names = lists.keys.sorted()
            entries = names.compactMap { lists[$0] }
        }
        var text = JSONText(capacity: 300 * (lists.count + 1))
        text.number(after: "{ \"format\": ", CacheLayout.format)
        text.number(after: ", \"generation\": ", generation)
        text.string(after: ", \"published\": ", published.description)
        text.literal(", \"lists\": {")
        for (name, list) in zip(names, entries) {
            text.newLine(isFirst: name == names.first)
            text.string(name.text)
            text.literal(": { \"document\": ")
            text.document(list.sha256)
            text.digest(after: ", \"sha256\": ", list.sha256)
            text.number(after: ", \"apps\": ", list.apps)
            text.number(after: ", \"ready\": ", list.ready)
            text.number(after: ", \"pending\": ", list.pending)
            text.number(after: ", \"failed\": ", list.failed)
            text.literal(list.isPrivate ? ", \"private\": true }" : " }")
        }
        if lists.isEmpty { text.literal("} }\n") } else { text.literal("\n} }\n") }
        return text.bytes
    }

    /// Reads a manifest.
    ///
    /// `limit` is the most bytes of a text in another layout than ``text`` has: reading one takes many times its size.
    package init(json: [UInt8], anyLayoutUpTo limit: Int = .max) throws(FormatError) {
        if let manifest = Manifest(written: json) {
            self = manifest
        } else {
            try DocumentFormat.check(json, anyLayoutUpTo: limit)
            try self.init(anyJSON: json)
        }
    }

    /// Reads a manifest in any JSON layout.
    init(anyJSON json: [UInt8]) throws(FormatError) {
        let root = try DocumentFormat.decode(CodedManifest.self, from: json)
        guard CacheLayout.generationNumbers.contains(root.generation) else {
            throw .damaged("“generation” is out of range")
        }
        guard let published = Timestamp(root.published) else {
            throw .damaged("“published” is not an RFC 3339 time in UTC")
        }
        var lists: [ListName: List] = [:]
        for (name, entry) in root.entries(in: json) {
            guard let sha256 = Digest(hex: entry.sha256) else {
                throw .damaged("“sha256” of \(name) is not a SHA-256 digest")
            }
            guard entry.document.map({ $0 == CacheLayout.document(sha256) }) ?? true else {
                throw .damaged("“document” of \(name) is not a path with its digest")
            }
            guard min(entry.apps, entry.ready, entry.pending, entry.failed) >= 0 else {
                throw .damaged("a number of \(name) is negative")
            }
            lists[ListName(name)] = List(
                sha256: sha256, apps: entry.apps, ready: entry.ready, pending: entry.pending, failed: entry.failed,
                isPrivate: entry.private ?? false)
        }
        self.init(generation: root.generation, published: published, lists: lists)
    }
}

extension Manifest {
    /// Reads a manifest in the layout of ``text``, also with more keys at the end of lists; `nil` if the layout differs.
    init?(written json: [UInt8]) {
        var text = WrittenJSON(json)
        guard text.take("{ \"format\": "), text.number() == CacheLayout.format,
            text.take(", \"generation\": "), let generation = text.number(),
            CacheLayout.generationNumbers.contains(generation),
            text.take(", \"published\": "), let published = text.string().flatMap(Timestamp.init),
            text.take(", \"lists\": {")
        else { return nil }
        var lists: [ListName: List] = [:]
        if !text.take("} }\n") {
            repeat {
                guard text.take("\n  "), let name = text.string(), text.take(": "), let list = List(&text),
                    lists.updateValue(list, forKey: ListName(name)) == nil
                else { return nil }
            } while text.take(",")
            guard text.take("\n} }\n") else { return nil }
        }
        guard text.isAtEnd else { return nil }
        self.init(generation: generation, published: published, lists: lists)
    }
}

extension Manifest.List {
    private static let keys = ["document", "sha256", "apps", "ready", "pending", "failed", "private"]

    fileprivate init?(_ text: inout WrittenJSON) {
        guard text.take("{ \"document\": "), let document = text.string(),
            text.take(", \"sha256\": "), let sha256 = text.digest(), document == CacheLayout.document(sha256),
            text.take(", \"apps\": "), let apps = text.number(),
            text.take(", \"ready\": "), let ready = text.number(),
            text.take(", \"pending\": "), let pending = text.number(),
            text.take(", \"failed\": "), let failed = text.number()
        else { return nil }
        let isPrivate = text.take(", \"private\": true")
        while !text.take(" }") { guard text.skipUnknownMember(besides: Self.keys) else { return nil } }
        self.init(
            sha256: sha256, apps: apps, ready: ready, pending: pending, failed: failed, isPrivate: isPrivate)
    }
}

private struct CodedManifest: FormattedDocument {
    struct Entry: Decodable {
        var document: String?
        var sha256: String
        var apps, ready, pending, failed: Int
        var `private`: Bool?
    }

    /// The most lines to decode one by one: manifests of agents have one for each list.
    private static let maxLines = 20_000

    var format: Int
    var generation: Int
    var published: String
    var lists: [String: Entry]

    /// The lists by name; canonically equivalent names stay distinct.
    ///
    /// `JSONDecoder` merges such names. So if there may be any, each list is decoded from its own line.
    func entries(in json: [UInt8]) -> [(name: String, entry: Entry)] {
        let entries = lists.map { (name: $0.key, entry: $0.value) }
        guard !json.allSatisfy({ $0 < 0x80 }) else { return entries }
        let texts = json.split(separator: UInt8(ascii: "\n"))
        guard texts.count <= Self.maxLines else { return entries }
        let decoder = JSONDecoder()
        let lines = texts.flatMap { line -> [(name: String, entry: Entry)] in
            let member = line.last == UInt8(ascii: ",") ? line.dropLast() : line
            let object = try? decoder.decode([String: Entry].self, untrusted: Data("{".utf8 + member + "}".utf8))
            return object.map { $0.map { (name: $0.key, entry: $0.value) } } ?? []
        }
        // Another program may have written the same JSON with other line ends.
        return lines.count < entries.count ? entries : lines
    }
}

/// The common part of manifests and list documents.
protocol FormattedDocument: Decodable {
    var format: Int { get }
}

/// Decodes manifests and list documents, and rejects those of another format.
enum DocumentFormat {
    private struct Version: FormattedDocument {
        var format: Int
    }

    /// Throws if a text is too large for the general parser.
    static func check(_ json: [UInt8], anyLayoutUpTo limit: Int) throws(FormatError) {
        guard json.count > limit else { return }
        throw .damaged("it has another layout than syncagent writes, and more than \(limit >> 20) MiB")
    }

    static func decode<T: FormattedDocument>(
        _ type: T.Type, from json: [UInt8]
    ) throws(FormatError) -> T {
        let data = Data(json)
        let version: Int
        do {
            let document = try JSONDecoder().decode(type, untrusted: data)
            version = document.format
            if version == CacheLayout.format { return document }
        } catch {
            guard let other = try? JSONDecoder().decode(Version.self, untrusted: data),
                other.format != CacheLayout.format
            else { throw .damaged("it is not JSON of this format") }
            version = other.format
        }
        throw .unknownFormat(version)
    }
}
