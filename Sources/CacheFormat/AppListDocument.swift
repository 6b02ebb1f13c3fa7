// SPDX-License-Identifier: Apache-2.0

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
}
