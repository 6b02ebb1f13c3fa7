// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The number of an image in the ``ImageTable``: the digest is hashed where it enters, and the number stands for it from
/// then on.
///
/// It is the image's as long as something names it, or its file is there; from the next turn on, a later one may get it.
/// Who keeps a number over a turn is counted: by ``ImageTable/show(_:)``, ``ImageTable/name(_:)`` or ``ImageTable/hold(_:)``.
struct ImageID: Hashable, Comparable, Sendable {
    fileprivate let number: UInt32
    fileprivate var place: Int { Int(number) }

    fileprivate init(_ place: Int) { number = UInt32(place) }

    static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// All images that icons or apps show, that wait to be published, or that documents name, and those still to be evicted.
struct ImageTable: Sendable {
    struct Row: Keyed {
        /// What is known of the file in `icons/`.
        enum File {
            /// No generation names it, and none did since it was evicted.
            case absent
            case whole
            /// It is missing or damaged.
            case damaged
        }

        let key: Digest
        fileprivate(set) var shape: ImageShapes.Shape
        /// How many referenced icons show it, and apps in place of them.
        fileprivate(set) var icons: Int32 = 0
        /// How many documents name it.
        fileprivate(set) var documents: Int32 = 0
        /// How many others have its number: icons that no list names, icons for which it is staged, apps that showed it,
        /// and names.
        fileprivate(set) var holders: Int32 = 0
        fileprivate(set) var file = File.absent
        /// Whether apps showed it as their last image until it was damaged, and no icon has brought it since.
        fileprivate(set) var isMissed = false
        /// Whether it is among the images that may have to be forgotten.
        fileprivate var isDoubtful = false

        /// Whether a referenced icon shows it, as its own, or an app as its last one.
        var isShown: Bool { icons > 0 }
        /// Whether a generation names it, or its file is still to be evicted since one did.
        var isKnown: Bool { file != .absent }
        var isOnDisk: Bool { file == .whole }
        var isDamaged: Bool { file == .damaged }
        /// Whether it is on disk and stays there, because a generation names it.
        var isKept: Bool { file == .whole && documents > 0 }
        var isUsed: Bool { icons > 0 || documents > 0 || holders > 0 || file != .absent }
    }

    private(set) var rows = KeyedTable<Row>()
    private(set) var shapes = ImageShapes()
    /// The images that no document names any more, still to be evicted; icons may show them.
    private(set) var unnamed: Set<ImageID> = []
    /// The images that nothing used at some time of this turn.
    private var doubtful: [ImageID] = []
    /// The number of images that referenced icons, or apps in place of them, show.
    private(set) var shown = 0
    /// The number and total bytes of the images in `icons/`.
    private(set) var holdings: (images: Int, bytes: Int) = (0, 0)

    subscript(id: ImageID) -> Row {
        // Reading a part of a row does not copy the row.
        _read { yield rows[id.place] }
    }

    var ids: [ImageID] { rows.places.map { ImageID($0) } }

    func id(of image: Digest) -> ImageID? { rows.index(of: image).map { ImageID($0) } }

    /// The number of an image; `likely` is that of one that is probably the same.
    func id(of image: Digest, likely: ImageID?) -> ImageID? {
        if let likely, self[likely].key == image { likely } else { id(of: image) }
    }

    /// What is known of an image.
    func image(_ id: ImageID) -> AppListDocument.Image {
        shapes.image(rows[id.place].key, rows[id.place].shape)
    }

    func digest(_ id: ImageID?) -> Digest? { id.map { rows[$0.place].key } }

    func bytes(_ id: ImageID) -> Int { shapes.bytes(rows[id.place].key, rows[id.place].shape) }

    func staged(_ staged: IconRecord.Staged) -> StagedImage {
        StagedImage(name: staged.name, image: image(staged.image))
    }

    func isOnDisk(_ image: Digest) -> Bool { id(of: image).map { self[$0].isOnDisk } ?? false }

    /// The images that can be evicted.
    var removable: some Collection<AppListDocument.Image> {
        unnamed.lazy.filter { !self[$0].isShown }.map { image($0) }
    }

    // MARK: Numbers

    /// The number of an image that a document describes; `likely` is that of one that is probably the same.
    ///
    /// Only the first description counts, while something uses the image.
    mutating func id(of image: AppListDocument.Image, likely: ImageID? = nil) -> ImageID {
        if let likely, rows[likely.place].key == image.sha256 { return likely }
        let count = rows.count
        let place = rows.place(of: image.sha256, default: Row(key: image.sha256, shape: shapes.shape(of: image)))
        if rows.count > count { doubt(place) }
        return ImageID(place)
    }

    /// The number of an image that was downloaded.
    ///
    /// What was found out of it counts, unless the file in `icons/` is whole: then that is as described.
    mutating func id(ofStaged image: AppListDocument.Image) -> ImageID {
        let id = id(of: image)
        if !self[id].isOnDisk, self.image(id) != image {
            shapes.forget(self[id].key, self[id].shape)
            rows[id.place].shape = shapes.shape(of: image)
        }
        return id
    }

    // MARK: Changes

    /// Counts an icon or app that shows the image.
    mutating func show(_ id: ImageID) {
        if !self[id].isShown { shown += 1 }
        rows[id.place].icons += 1
    }

    mutating func hide(_ id: ImageID) {
        rows[id.place].icons -= 1
        if !self[id].isShown {
            shown -= 1
            doubt(id.place)
        }
    }

    /// Counts something else that has the image's number.
    mutating func hold(_ id: ImageID?) {
        if let id { rows[id.place].holders += 1 }
    }

    mutating func release(_ id: ImageID?) {
        guard let id else { return }
        rows[id.place].holders -= 1
        doubt(id.place)
    }

    /// Counts a document that names the image; if none did before, it is assumed to be on disk.
    mutating func name(_ id: ImageID) {
        rows[id.place].documents += 1
        guard self[id].documents == 1 else { return }
        if self[id].isKnown { unnamed.remove(id) } else { set(.whole, of: id) }
    }

    mutating func forgetNaming(of id: ImageID) {
        rows[id.place].documents -= 1
        if self[id].documents == 0 { unnamed.insert(id) }
    }

    /// Records the files of images that documents name or named.
    mutating func record(_ images: some Sequence<Digest>, areWhole: Bool) {
        for image in images {
            if let id = id(of: image), self[id].isKnown { set(areWhole ? .whole : .damaged, of: id) }
        }
    }

    /// Records that apps showed the image as their last one, and it is damaged.
    mutating func miss(_ id: ImageID) { rows[id.place].isMissed = true }

    /// Records that an icon brought the image; returns whether it was missed.
    mutating func endMissing(of id: ImageID) -> Bool {
        defer { rows[id.place].isMissed = false }
        return self[id].isMissed
    }

    /// Records that a file is gone, unless a document names it again.
    mutating func evict(_ image: Digest) {
        guard let id = id(of: image), unnamed.remove(id) != nil else { return }
        // An emptied set would keep its memory.
        if unnamed.isEmpty { unnamed = [] }
        set(.absent, of: id)
        doubt(id.place)
    }

    /// Forgets all documents and files: another cache folder is at the path.
    mutating func forgetFiles() {
        for id in ids {
            (rows[id.place].documents, rows[id.place].file) = (0, .absent)
            doubt(id.place)
        }
        (unnamed, holdings) = ([], (0, 0))
    }

    /// Forgets the images that nothing uses; at the end of a turn, in which they may be needed again.
    mutating func forgetUnused() {
        for id in doubtful {
            rows[id.place].isDoubtful = false
            guard !self[id].isUsed else { continue }
            shapes.forget(self[id].key, self[id].shape)
            rows.remove(at: id.place)
        }
        // After a start, they are all images.
        doubtful.removeAll(keepingCapacity: doubtful.count < 1024)
    }

    private mutating func doubt(_ place: Int) {
        guard !rows[place].isUsed, !rows[place].isDoubtful else { return }
        rows[place].isDoubtful = true
        doubtful.append(ImageID(place))
    }

    private mutating func set(_ file: Row.File, of id: ImageID) {
        let change = (file == .whole ? 1 : 0) - (self[id].isOnDisk ? 1 : 0)
        rows[id.place].file = file
        guard change != 0 else { return }
        holdings.images += change
        // Documents written by others may contain any size, so this must not trap.
        holdings.bytes &+= change &* bytes(id)
    }
}
