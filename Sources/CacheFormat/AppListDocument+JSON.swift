// SPDX-License-Identifier: Apache-2.0

extension AppListDocument {
    /// Reads a list document in the layout of ``text``, or else, more slowly, in any JSON layout.
    package init(json: [UInt8]) throws(FormatError) {
        if let document = AppListDocument(written: json) {
            self = document
        } else {
            try self.init(anyJSON: json)
        }
    }

    /// Reads the entries of a list document one by one, so that not all of them need to be in memory at once.
    ///
    /// `limit` is the most bytes of a text in another layout than ``text`` has: reading one takes many times its size.
    /// `initial` makes the start value; it is called again if the layout proves to be another one.
    package static func reduce<Result>(
        _ json: [UInt8], anyLayoutUpTo limit: Int = .max, into initial: () -> Result,
        _ update: (inout Result, App) -> Void
    ) throws(FormatError) -> Result {
        var result = initial()
        if read(written: json, { update(&result, $0) }) != nil { return result }
        result = initial()
        try DocumentFormat.check(json, anyLayoutUpTo: limit)
        return try AppListDocument(anyJSON: json).apps.reduce(into: initial(), update)
    }

    /// Reads a list document in any JSON layout.
    init(anyJSON json: [UInt8]) throws(FormatError) {
        let root = try DocumentFormat.decode(CodedDocument.self, from: json)
        guard let sha256 = Digest(hex: root.source.sha256), let modified = Timestamp(root.source.modified) else {
            throw .damaged("its “source” has no valid “sha256” and “modified”")
        }
        guard root.source.bytes >= 0 else { throw .damaged("“bytes” of its “source” is negative") }
        var apps: [App] = []
        apps.reserveCapacity(root.apps.count)
        for (index, app) in root.apps.enumerated() {
            guard let state = app.state else {
                let isKnown = ["ready", "pending", "failed"].contains(app.status)
                throw .damaged(
                    isKnown
                        ? "“apps[\(index)]” lacks a key that its status requires, or a number is negative"
                        : "“apps[\(index)]” has an unknown status, which a newer version may have written")
            }
            if case .ready(let image) = state, !image.hasPlainPath {
                throw .damaged("“path” of “apps[\(index)]” is not one of an image with its digest")
            }
            let expected = app.expected.flatMap { Digest(hex: $0) }
            apps.append(
                App(
                    name: app.name, id: app.id, icon: app.icon, download: app.download, expected: expected,
                    state: state,
                    previous: app.last))
            guard case .ready = state else { continue }
            for (text, rendition) in app.renditions ?? [:] {
                guard let size = RenditionSize(text), let image = rendition.image, image.hasPlainPath else {
                    throw .damaged("“renditions” of “apps[\(index)]” has one that is not a size with an image")
                }
                apps[index].renditions.append(Rendition(size: size, image: image))
            }
            apps[index].renditions.sort { $0.size < $1.size }
        }
        let source = Source(sha256: sha256, bytes: root.source.bytes, modified: modified)
        self.init(list: root.list, source: source, apps: apps)
    }

    /// Reads a list document in the layout of ``text``, also with more keys at the end of entries; `nil` if the layout differs.
    package init?(written json: [UInt8]) {
        var apps: [App] = []
        // The line of a ready icon has about 300 bytes, and more with a name.
        apps.reserveCapacity(json.count / 256)
        guard let (list, source) = Self.read(written: json, { apps.append($0) }) else { return nil }
        self.init(list: list, source: source, apps: apps)
    }

    /// Passes each entry of a document in that layout to `take`; `nil` if the layout differs, possibly after some
    /// entries.
    @inline(__always)
    private static func read(written json: [UInt8], _ take: (App) -> Void) -> (list: ListName, source: Source)? {
        var text = WrittenJSON(json)
        guard text.take("{ \"format\": "), text.number() == CacheLayout.format,
            text.take(", \"list\": "), let list = text.string(),
            text.take(", \"source\": { \"sha256\": "), let sha256 = text.digest(),
            text.take(", \"bytes\": "), let bytes = text.number(),
            text.take(", \"modified\": "), let modified = text.string().flatMap(Timestamp.init),
            text.take(" }, \"apps\": [")
        else { return nil }
        if !text.take("] }\n") {
            repeat {
                guard text.take("\n  "), let app = App(&text) else { return nil }
                take(app)
            } while text.take(",")
            guard text.take("\n] }\n") else { return nil }
        }
        guard text.isAtEnd else { return nil }
        return (ListName(list), Source(sha256: sha256, bytes: bytes, modified: modified))
    }
}

extension AppListDocument.App {
    private static let keys = [
        "name", "id", "icon", "download", "expected", "status", "error", "previous", "previousSince", "path", "sha256",
        "bytes", "type", "width", "height", "renditions",
    ]

    fileprivate init?(_ text: inout WrittenJSON) {
        guard text.take("{ "), let name = text.optional("\"name\": ", before: ", ", { $0.string() }),
            let id = text.optional("\"id\": ", before: ", ", { $0.string() }),
            text.take("\"icon\": "), let icon = text.string(),
            let download = text.optional(", \"download\": ", { $0.string() }),
            let expected = text.optional(", \"expected\": ", { $0.digest() }),
            text.take(", \"status\": "), let state = AppListDocument.State(&text)
        else { return nil }
        var previous: AppListDocument.Previous?
        if case .ready = state, text.take(", \"previous\": ") {
            previous = AppListDocument.Previous(&text)
            guard previous != nil else { return nil }
        }
        var renditions: [AppListDocument.Rendition] = []
        if case .ready = state, text.take(", \"renditions\": { ") {
            repeat {
                guard let rendition = AppListDocument.Rendition(&text),
                    renditions.last.map({ $0.size < rendition.size }) ?? true
                else { return nil }
                renditions.append(rendition)
            } while text.take(", ")
            guard text.take(" }") else { return nil }
        }
        while !text.take(" }") { guard text.skipUnknownMember(besides: Self.keys) else { return nil } }
        self.init(
            name: name, id: id, icon: IconURL(icon), download: download, expected: expected, state: state,
            previous: previous)
        if !renditions.isEmpty { self.renditions = renditions }
    }
}

extension AppListDocument.Rendition {
    fileprivate init?(_ text: inout WrittenJSON) {
        guard let size = text.string().flatMap({ RenditionSize($0) }), text.take(": { \"path\": "),
            let (sha256, suffix) = text.image(),
            text.take(", \"bytes\": "), let bytes = text.number(),
            text.take(", \"width\": "), let width = text.number(),
            text.take(", \"height\": "), let height = text.number(),
            text.take(" }")
        else { return nil }
        self.init(
            size: size,
            image: AppListDocument.Image(
                suffix: suffix, sha256: sha256, bytes: bytes, type: Self.type, width: width, height: height))
    }
}

extension AppListDocument.Previous {
    fileprivate init?(_ text: inout WrittenJSON) {
        guard let icon = text.string(),
            let since = text.optional(", \"previousSince\": ", { $0.string().flatMap(Timestamp.init) }),
            let error = text.optional(", \"error\": ", { $0.string() })
        else { return nil }
        self.init(icon: IconURL(icon), since: since, error: error)
    }
}

extension AppListDocument.State {
    fileprivate init?(_ text: inout WrittenJSON) {
        if text.take("\"pending\"") {
            self = .pending
        } else if text.take("\"failed\", \"error\": ") {
            guard let error = text.string() else { return nil }
            self = .failed(error: error)
        } else {
            guard text.take("\"ready\", \"path\": "), let (sha256, suffix) = text.image(),
                text.take(", \"bytes\": "), let bytes = text.number(),
                text.take(", \"type\": "), let type = text.string(),
                text.take(", \"width\": "), let width = text.number(),
                text.take(", \"height\": "), let height = text.number()
            else { return nil }
            self = .ready(
                AppListDocument.Image(
                    suffix: suffix, sha256: sha256, bytes: bytes, type: type, width: width, height: height))
        }
    }
}

private struct CodedDocument: FormattedDocument {
    struct Rendition: Decodable {
        var path, sha256: String
        var bytes, width, height: Int

        var image: AppListDocument.Image? {
            guard let digest = Digest(hex: sha256), min(bytes, width, height) >= 0 else { return nil }
            return AppListDocument.Image(
                path: path, sha256: digest, bytes: bytes, type: AppListDocument.Rendition.type, width: width,
                height: height)
        }
    }
    struct Source: Decodable {
        var sha256: String
        var bytes: Int
        var modified: String
    }
    struct App: Decodable {
        var name: String?
        var id: String?
        var icon: IconURL
        var download: String?
        var expected: String?
        var status: String
        var error: String?
        var previous: IconURL?
        var previousSince: String?
        var path, sha256, type: String?
        var bytes, width, height: Int?
        var renditions: [String: Rendition]?

        var state: AppListDocument.State? {
            switch status {
            case "ready":
                guard let path, let digest = sha256.flatMap({ Digest(hex: $0) }),
                    let bytes, let type, let width, let height, min(bytes, width, height) >= 0
                else { return nil }
                return .ready(
                    AppListDocument.Image(
                        path: path, sha256: digest, bytes: bytes, type: type, width: width, height: height))
            case "pending": return .pending
            case "failed": return error.map(AppListDocument.State.failed)
            default: return nil
            }
        }

        /// The source of a ready entry's image, if that is a previous one.
        var last: AppListDocument.Previous? {
            guard status == "ready", let previous else { return nil }
            return AppListDocument.Previous(
                icon: previous, since: previousSince.flatMap(Timestamp.init), error: error)
        }
    }
    var format: Int
    var list: ListName
    var source: Source
    var apps: [App]
}
