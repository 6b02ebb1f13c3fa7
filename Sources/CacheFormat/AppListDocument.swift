// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// One version of an app list, with the state of each of its icons: immutable, named by the SHA-256 of its text.
public struct AppListDocument: Equatable, Sendable {
    /// The property list that the document was made from.
    public struct Source: Equatable, Sendable {
        public var sha256: Digest
        public var bytes: Int
        public var modified: Timestamp

        package init(sha256: Digest, bytes: Int, modified: Timestamp) {
            self.sha256 = sha256
            self.bytes = bytes
            self.modified = modified
        }
    }

    /// One entry of the list, in the list's order.
    public struct App: Equatable, Sendable {
        /// The app's name, if the list gives one.
        public var name: String?
        /// The icon's URL, spelled as in the list.
        public var icon: IconURL
        /// The list's `download` text, if it has one.
        public var download: String?
        /// The digest that the list gives for the image, if it gives one.
        ///
        /// A ready image can have another one: an older image stays until one with this digest is there.
        public var expected: Digest?
        /// What the cache has for the icon.
        public var state: State

        package init(name: String?, icon: IconURL, download: String?, expected: Digest? = nil, state: State) {
            self.name = name
            self.icon = icon
            self.download = download
            self.expected = expected
            self.state = state
        }
    }

    /// What the cache has for an icon.
    public enum State: Equatable, Sendable {
        /// Its image is on disk, complete and checked.
        case ready(Image)
        /// It has not been fetched yet.
        case pending
        /// It could not be fetched; the code says why (`http-404`).
        ///
        /// It is text and no enumeration: agents of later versions have codes that this version does not know.
        case failed(error: String)
    }

    /// An image on disk.
    public struct Image: Hashable, Sendable {
        /// The path, relative to the cache folder.
        public var path: String {
            location.utf8.contains(UInt8(ascii: "/")) ? location : CacheLayout.image(sha256, suffix: location)
        }
        /// The digest of its bytes.
        public let sha256: Digest
        /// The size of the file.
        public let bytes: Int
        /// The media type (RFC 6838), from the image's own magic bytes: `image/png`.
        public let type: String
        /// The width, in pixels.
        public let width: Int
        /// The height, in pixels.
        public let height: Int
        /// The suffix of the file, where the rest of its path follows from the digest; else the path.
        private let location: String

        package init(path: String, sha256: Digest, bytes: Int, type: String, width: Int, height: Int) {
            let suffix = path.utf8.lastIndex(of: UInt8(ascii: ".")).map { path[path.index(after: $0)...] } ?? ""
            let isPlain = path == CacheLayout.image(sha256, suffix: String(suffix))
            self.init(
                location: isPlain ? String(suffix) : path, sha256: sha256, bytes: bytes, type: type, width: width,
                height: height)
        }

        /// An image at the path that its digest gives.
        package init(suffix: String, sha256: Digest, bytes: Int, type: String, width: Int, height: Int) {
            self.init(location: suffix, sha256: sha256, bytes: bytes, type: type, width: width, height: height)
        }

        private init(location: String, sha256: Digest, bytes: Int, type: String, width: Int, height: Int) {
            self.location = location
            self.sha256 = sha256
            self.bytes = bytes
            self.type = type
            self.width = width
            self.height = height
        }
    }

    /// The app list's file name.
    public var list: ListName
    public var source: Source
    public var apps: [App]

    package init(list: ListName, source: Source, apps: [App]) {
        self.list = list
        self.source = source
        self.apps = apps
    }

    /// The JSON text: keys in a fixed order, one app a line.
    package var text: [UInt8] {
        var text = JSONText(capacity: 300 * (apps.count + 1))
        text.words("{ \"format\": ")
        text.number(CacheLayout.format)
        text.words(", \"list\": ")
        text.string(list.text)
        text.words(", \"source\": { \"sha256\": ")
        text.digest(source.sha256)
        text.words(", \"bytes\": ")
        text.number(source.bytes)
        text.words(", \"modified\": ")
        text.string(source.modified.description)
        text.words(" }, \"apps\": [")
        for (index, app) in apps.enumerated() {
            text.newLine(isFirst: index == 0)
            app.write(to: &text)
        }
        if apps.isEmpty { text.words("] }\n") } else { text.words("\n] }\n") }
        return text.bytes
    }

    /// The same as a string.
    package var json: String { String(decoding: text, as: UTF8.self) }

    /// Reads a list document.
    ///
    /// - Throws: ``FormatError/damaged(_:)`` if the text is no list document, and
    ///   ``FormatError/unknownFormat(_:)`` if it is one of a later format.
    package init(json: [UInt8]) throws(FormatError) {
        if let document = AppListDocument(written: json) {
            self = document
        } else {
            try self.init(anyJSON: json)
        }
    }

    /// Reads a list document, whoever wrote it, and however.
    init(anyJSON json: [UInt8]) throws(FormatError) {
        let root = try DocumentFormat.decode(CodedDocument.self, from: json)
        guard let sha256 = Digest(hex: root.source.sha256), let modified = Timestamp(root.source.modified) else {
            throw .damaged("its “source” has no valid “sha256” and “modified”")
        }
        var apps: [App] = []
        apps.reserveCapacity(root.apps.count)
        for (index, app) in root.apps.enumerated() {
            guard let state = app.state else {
                throw .damaged("“apps[\(index)]” has a status without what belongs to it")
            }
            let expected = app.expected.flatMap { Digest(hex: $0) }
            apps.append(
                App(name: app.name, icon: app.icon, download: app.download, expected: expected, state: state))
        }
        let source = Source(sha256: sha256, bytes: root.source.bytes, modified: modified)
        self.init(list: root.list, source: source, apps: apps)
    }
}

extension AppListDocument.App {
    /// Writes the entry as the document has it, on one line.
    fileprivate func write(to text: inout JSONText) {
        text.words("{ ")
        if let name {
            text.words("\"name\": ")
            text.string(name)
            text.words(", ")
        }
        text.words("\"icon\": ")
        text.string(icon.text)
        if let download {
            text.words(", \"download\": ")
            text.string(download)
        }
        if let expected {
            text.words(", \"expected\": ")
            text.digest(expected)
        }
        switch state {
        case .ready(let image):
            text.words(", \"status\": \"ready\", \"path\": ")
            text.string(image.path)
            text.words(", \"sha256\": ")
            text.digest(image.sha256)
            text.words(", \"bytes\": ")
            text.number(image.bytes)
            text.words(", \"type\": ")
            text.string(image.type)
            text.words(", \"width\": ")
            text.number(image.width)
            text.words(", \"height\": ")
            text.number(image.height)
        case .pending:
            text.words(", \"status\": \"pending\"")
        case .failed(let error):
            text.words(", \"status\": \"failed\", \"error\": ")
            text.string(error)
        }
        text.words(" }")
    }
}

extension AppListDocument {
    /// The document, if the text is as ``json`` has it and no string in it has an escape.
    init?(written json: [UInt8]) {
        var text = WrittenJSON(json)
        guard text.take("{ \"format\": "), text.number() == CacheLayout.format,
            text.take(", \"list\": "), let list = text.string(),
            text.take(", \"source\": { \"sha256\": "), let sha256 = text.digest(),
            text.take(", \"bytes\": "), let bytes = text.number(),
            text.take(", \"modified\": "), let modified = text.string().flatMap(Timestamp.init),
            text.take(" }, \"apps\": [")
        else { return nil }
        var apps: [App] = []
        // One that is ready takes some 300 bytes, and more with a name.
        apps.reserveCapacity(json.count / 256)
        if !text.take("] }\n") {
            repeat {
                guard text.take("\n  "), let app = App(&text) else { return nil }
                apps.append(app)
            } while text.take(",")
            guard text.take("\n] }\n") else { return nil }
        }
        guard text.isAtEnd else { return nil }
        self.init(
            list: ListName(list), source: Source(sha256: sha256, bytes: bytes, modified: modified), apps: apps)
    }
}

extension AppListDocument.App {
    fileprivate init?(_ text: inout WrittenJSON) {
        var name: String?
        guard text.take("{ ") else { return nil }
        if text.take("\"name\": ") {
            name = text.string()
            guard name != nil, text.take(", ") else { return nil }
        }
        guard text.take("\"icon\": "), let icon = text.string() else { return nil }
        var download: String?
        if text.take(", \"download\": ") {
            download = text.string()
            guard download != nil else { return nil }
        }
        var expected: Digest?
        if text.take(", \"expected\": ") {
            expected = text.digest()
            guard expected != nil else { return nil }
        }
        guard text.take(", \"status\": "), let state = AppListDocument.State(&text), text.take(" }") else { return nil }
        self.init(name: name, icon: IconURL(icon), download: download, expected: expected, state: state)
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
    struct Source: Decodable {
        var sha256: String
        var bytes: Int
        var modified: String
    }
    struct App: Decodable {
        var name: String?
        var icon: IconURL
        var download: String?
        var expected: String?
        var status: String
        var error: String?
        var path, sha256, type: String?
        var bytes, width, height: Int?

        var state: AppListDocument.State? {
            switch status {
            case "ready":
                // Every image is in a folder: what is in none would be taken for a suffix.
                guard let path, path.utf8.contains(UInt8(ascii: "/")), let digest = sha256.flatMap({ Digest(hex: $0) }),
                    let bytes, let type, let width, let height
                else { return nil }
                return .ready(
                    AppListDocument.Image(
                        path: path, sha256: digest, bytes: bytes, type: type, width: width, height: height))
            case "pending": return .pending
            case "failed": return error.map(AppListDocument.State.failed)
            default: return nil
            }
        }
    }
    var format: Int
    var list: ListName
    var source: Source
    var apps: [App]
}
