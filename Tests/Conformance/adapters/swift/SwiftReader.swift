// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import IconCache
import Synchronization
import SystemPackage

/// The adapter of the Swift reader: it answers the questions that the article Conformance describes.
@main
struct SwiftReader {
    private struct Question: Decodable {
        let ask: String
        var url: String?
        var list: String?
        var index: Int?
        var seconds: Double?
        var size: Int?
    }

    private let cache: IconCache
    private var held: Snapshot?
    private var changes: GatheredChanges?

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, arguments[1] == "--measure" {
            return try measure(IconCache(at: FilePath(arguments[2])), IconURL(arguments[3]), ListName(arguments[4]))
        }
        var reader = SwiftReader(cache: arguments.count > 1 ? IconCache(at: FilePath(arguments[1])) : IconCache())
        let can = ["read", "lists", "apps", "entry", "hold", "open", "watch", "folder", "renditions"]
        try write(["reader": "Swift", "can": .array(can.map(JSON.string))])
        while let line = readLine() {
            let question = try JSONDecoder().decode(Question.self, from: Data(line.utf8))
            try write(await reader.answer(question))
        }
    }

    /// Prints how long it takes, for `Tests/Conformance/measure`.
    private static func measure(_ cache: IconCache, _ url: IconURL, _ list: ListName) throws {
        let lookups = 10_000
        let lookup = try ContinuousClock().measure { for _ in 0..<lookups { _ = try cache.icon(for: url) } } / lookups
        var (count, ready) = (0, 0)
        let walk = try ContinuousClock().measure {
            for app in try cache.apps(in: list) ?? [] {
                count += 1
                if case .ready = app.state { ready += 1 }
            }
        }
        // The figure of getrusage(2) includes what the parent had before this program was executed.
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let memory = status.firstMatch(of: /VmHWM:\s*(\d+)/).flatMap { Int($0.1) } ?? 0
        print(lookup / .microseconds(1), Int(walk / .milliseconds(1)), memory / 1024, count, ready)
    }

    private static func write(_ answer: JSON) throws {
        try FileDescriptor.standardOutput.writeAll((answer.line + "\n").utf8)
    }

    private mutating func answer(_ question: Question) async throws -> JSON {
        do {
            return try await found(question)
        } catch let error as IconCacheError {
            let code =
                switch error {
                case .noCache: "no-cache"
                case .unreadable: "unreadable"
                case .damaged: "damaged"
                case .unknownFormat: "unknown-format"
                }
            return ["error": .string(code)]
        }
    }

    private mutating func found(_ question: Question) async throws -> JSON {
        let url = IconURL(question.url ?? "")
        let list = ListName(question.list ?? "")
        switch question.ask {
        case "path":
            let icon = try question.size.map { try cache.icon(for: url, pixels: $0) } ?? cache.icon(for: url)
            return ["path": .string(orNull: icon?.path.string)]
        case "read":
            let file = try question.size.map { try cache.openImage(of: url, pixels: $0) } ?? cache.openImage(of: url)
            return ["sha256": try Self.digest(of: file)]
        case "folder": return ["folder": .string(cache.folder.string)]
        case "lists":
            let manifest = try held?.manifest ?? cache.manifest()
            return ["generation": .number(manifest.generation), "lists": .array(Self.lists(of: manifest))]
        case "apps":
            let document = try held.map { try $0.document(of: list) } ?? cache.document(of: list)
            return ["apps": document.map { .array($0.apps.map(json)) } ?? .null]
        case "entry":
            return ["app": try cache.entry(forIcon: url).map(json) ?? .null]
        case "hold":
            let snapshot = try cache.snapshot()
            held = snapshot
            return ["generation": .number(snapshot.manifest.generation), "leased": .bool(snapshot.isLeased)]
        case "release":
            held?.end()
            held = nil
            return [:]
        case "open":
            let snapshot = try held ?? cache.snapshot()
            defer { if held == nil { snapshot.end() } }
            let app = try snapshot.document(of: list)?.apps[question.index ?? 0]
            guard let app, case .ready(let original) = app.state else { return ["sha256": .null] }
            let image = question.size.flatMap { app.image(forPixels: $0) } ?? original
            return ["sha256": try Self.digest(of: try snapshot.openImage(image))]
        case "watch":
            changes = GatheredChanges(of: cache)
            return [:]
        case "changes":
            return ["changes": .array(try await changes?.take(within: .seconds(question.seconds ?? 0)) ?? [])]
        default: return ["error": "unknown-question"]
        }
    }

    private static func lists(of manifest: Manifest) -> [JSON] {
        manifest.lists.sorted { $0.key < $1.key }.map { name, list in
            [
                "name": .text(name), "apps": .number(list.apps), "ready": .number(list.ready),
                "pending": .number(list.pending), "failed": .number(list.failed),
            ]
        }
    }

    private static func digest(of file: FileDescriptor?) throws -> JSON {
        guard let file else { return .null }
        return try file.closeAfter {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = try chunk.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
                bytes += chunk[..<count]
            }
            return .string(Digest.of(bytes).hex)
        }
    }

    private func json(_ rendition: AppListDocument.Image) -> JSON {
        [
            "path": .string(cache.path(of: rendition).string), "sha256": .string(rendition.sha256.hex),
            "bytes": .number(rendition.bytes), "width": .number(rendition.width), "height": .number(rendition.height),
        ]
    }

    private func json(_ app: AppListDocument.App) -> JSON {
        var members: [(key: String, value: JSON)] = []
        func add(_ key: String, _ text: String?) { if let text { members.append((key, .string(text))) } }
        add("name", app.name)
        add("id", app.id)
        add("icon", app.icon.text)
        add("download", app.download)
        add("expected", app.expected?.hex)
        switch app.state {
        case .pending: add("status", "pending")
        case .failed(let error):
            add("status", "failed")
            add("error", error)
        case .ready(let image):
            add("status", "ready")
            add("path", cache.path(of: image).string)
            add("sha256", image.sha256.hex)
            add("type", image.type)
            members += [
                ("bytes", .number(image.bytes)), ("width", .number(image.width)), ("height", .number(image.height)),
            ]
        }
        add("previous", app.previous?.icon.text)
        add("previousSince", app.previous?.since?.description)
        add("error", app.previous?.error)
        if !app.renditions.isEmpty {
            let renditions = app.renditions.map { rendition in
                (key: rendition.size.description, value: json(rendition.image))
            }
            members.append(("renditions", .object(renditions)))
        }
        return .object(members)
    }
}

/// The changes since they were taken last.
private final class GatheredChanges: Sendable {
    private let gathered = Mutex<[JSON]>([])

    init(of cache: IconCache) {
        Task {
            for try await change in cache.changes() { gathered.withLock { $0.append(Self.json(change)) } }
        }
    }

    /// Waits for the first one for so long at most.
    func take(within time: Duration) async throws -> [JSON] {
        let end = ContinuousClock.now + time
        while gathered.withLock(\.isEmpty), .now < end { try await Task.sleep(for: .milliseconds(5)) }
        return gathered.withLock { gathered in
            defer { gathered = [] }
            return gathered
        }
    }

    private static func json(_ change: Change) -> JSON {
        switch change {
        case .listAdded(let list): ["listAdded", .text(list)]
        case .listChanged(let list): ["listChanged", .text(list)]
        case .listRemoved(let list): ["listRemoved", .text(list)]
        case .iconReady(let url, let image): ["iconReady", .text(url), .string(image.sha256.hex)]
        case .iconReplaced(let url, let image): ["iconReplaced", .text(url), .string(image.sha256.hex)]
        case .iconGone(let url): ["iconGone", .text(url)]
        }
    }
}
