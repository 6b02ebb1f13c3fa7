// SPDX-License-Identifier: Apache-2.0

/// One version of an app list, with the state of each icon.
///
/// A document never changes; its file is named by the SHA-256 of its text.
public struct AppListDocument: Equatable, Sendable {
    /// The property list that the document was made from.
    public struct Source: Equatable, Sendable {
        /// The SHA-256 of the file.
        public var sha256: Digest
        /// The size of the file, in bytes.
        public var bytes: Int
        /// When the file was last modified.
        public var modified: Timestamp

        package init(sha256: Digest, bytes: Int, modified: Timestamp) {
            self.sha256 = sha256
            self.bytes = bytes
            self.modified = modified
        }
    }

    /// An entry of the app list.
    public struct App: Equatable, Sendable {
        /// The app's name; `nil` if the list gives none.
        public var name: String?
        /// The app's identity in its list, which stays the same if its icon's URL changes; `nil` if the list gives
        /// none.
        ///
        /// It is the value of the first key of the agent's `lists.identityKeys` that the entry has.
        public var id: String?
        /// The icon's URL, spelled as in the list.
        public var icon: IconURL
        /// The list's `download` text; `nil` if the list gives none.
        public var download: String?
        /// The digest that the list gives for the image (Munki's `icon_hash`); `nil` if the list gives none.
        ///
        /// The digest of a ready image can differ: an older image stays until one with this digest is downloaded.
        public var expected: Digest?
        /// The state of the icon.
        ///
        /// If there is a ``previous`` image, a ready entry has that one.
        public var state: State
        /// The source of the image in ``state`` if that is the app's previous one; `nil` if it is the icon's own.
        public var previous: Previous? {
            get { if case .some(let previous, _) = rest { previous } else { nil } }
            set { rest = Rest(newValue, renditions) }
        }
        /// The image of ``state`` in other sizes, in the order of their pixels; empty if it is in none.
        public var renditions: [Rendition] {
            get { if case .some(_, let renditions) = rest { renditions } else { [] } }
            set { rest = Rest(previous, newValue) }
        }

        /// The rare parts of an entry.
        ///
        /// Indirect to save memory: hardly any of very many entries has one.
        package indirect enum Rest: Equatable, Sendable {
            case none
            case some(Previous?, [Rendition])

            fileprivate init(_ previous: Previous?, _ renditions: [Rendition]) {
                self = previous == nil && renditions.isEmpty ? .none : .some(previous, renditions)
            }
        }

        /// The rare parts; read directly where copying an entry would cost more.
        package private(set) var rest: Rest

        /// Whether there is a ``previous`` image; does not copy it.
        package var hasPrevious: Bool { if case .some(.some, _) = rest { true } else { false } }

        /// The image of the icon's own URL; `nil` if there is none.
        package var ownImage: Image? {
            guard !hasPrevious, case .ready(let image) = state else { return nil }
            return image
        }

        /// All images that the entry names.
        package var images: [Image] {
            guard case .ready(let image) = state else { return [] }
            guard case .some(_, let renditions) = rest else { return [image] }
            return [image] + renditions.map(\.image)
        }

        /// The entry in another state, without its image and renditions.
        package func withoutImage(_ state: State) -> App {
            App(name: name, id: id, icon: icon, download: download, expected: expected, state: state)
        }

        /// The smallest rendition that has at least this many pixels on its longer side, or else the image itself;
        /// `nil` if the entry is not ready.
        ///
        /// `pixels` is compared with the size that a rendition was made for, ``RenditionSize/pixels``.
        public func image(forPixels pixels: Int) -> Image? {
            guard case .ready(let image) = state else { return nil }
            return renditions.first { $0.size.pixels >= pixels }?.image ?? image
        }
    }

    /// An app's image in another size.
    public struct Rendition: Equatable, Sendable {
        /// The size that it was made for; its picture may have other sides.
        public var size: RenditionSize
        /// The image, a PNG.
        public var image: Image

        package init(size: RenditionSize, image: Image) {
            self.size = size
            self.image = image
        }

        /// The media type of every rendition.
        package static let type = "image/png"
    }

    /// The source of an app's last image, which is shown while its icon's URL has none.
    public struct Previous: Equatable, Sendable {
        /// The URL that the image came from.
        public var icon: IconURL
        /// When the app's URL changed; `nil` if not known.
        public var since: Timestamp?
        /// Why the new URL has no image: a code such as `http-404`; `nil` if it has not been tried yet.
        public var error: String?

        package init(icon: IconURL, since: Timestamp?, error: String? = nil) {
            self.icon = icon
            self.since = since
            self.error = error
        }
    }

    /// The state of an icon in the cache.
    public enum State: Equatable, Sendable {
        /// The image is on disk, complete and checked.
        case ready(Image)
        /// The icon has not been downloaded yet.
        case pending
        /// The icon could not be downloaded; the code says why (`http-404`).
        ///
        /// The code is text, because later agents may have codes that this version does not know.
        case failed(error: String)
    }

    /// An image on disk.
    public struct Image: Hashable, Sendable {
        /// The path, relative to the cache folder.
        public var path: String {
            location.utf8.contains(UInt8(ascii: "/")) ? location : CacheLayout.image(sha256, suffix: location)
        }

        /// Appends the path as JSON.
        func writePath(to text: inout JSONText) {
            if hasPlainPath { text.image(sha256, suffix: location) } else { text.string(path) }
        }

        /// Whether the path has the form `icons/ab/<digest>.<suffix>`; readers accept no other path.
        package var hasPlainPath: Bool { CacheLayout.isImageSuffix(location) }

        /// The suffix of the file if its path has that form.
        package var plainSuffix: String? { hasPlainPath ? location : nil }
        /// The digest of its bytes.
        public let sha256: Digest
        /// The size of the file, in bytes.
        public let bytes: Int
        /// The media type (RFC 6838), determined from the image's first bytes: `image/png`.
        public let type: String
        /// The width, in pixels.
        public let width: Int
        /// The height, in pixels.
        public let height: Int
        /// The suffix of the file if the rest of the path follows from the digest, else the whole path.
        private let location: String

        package init(path: String, sha256: Digest, bytes: Int, type: String, width: Int, height: Int) {
            let suffix = path.utf8.lastIndex(of: UInt8(ascii: ".")).map { path[path.index(after: $0)...] } ?? ""
            let isPlain = path == CacheLayout.image(sha256, suffix: String(suffix))
            self.init(
                location: isPlain ? String(suffix) : path, sha256: sha256, bytes: bytes, type: type, width: width,
                height: height)
        }

        /// Creates an image whose path follows from its digest.
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
    /// The property list that the document was made from.
    public var source: Source
    /// The entries, in the list's order.
    public var apps: [App]

    package init(list: ListName, source: Source, apps: [App]) {
        self.list = list
        self.source = source
        self.apps = apps
    }
}

extension AppListDocument.App {
    package init(
        name: String?, id: String? = nil, icon: IconURL, download: String?, expected: Digest? = nil,
        state: AppListDocument.State, previous: AppListDocument.Previous? = nil
    ) {
        // Setting the properties one by one would cost a copy of the entry.
        self.init(
            name: name, id: id, icon: icon, download: download, expected: expected, state: state,
            rest: Rest(previous, []))
    }
}
