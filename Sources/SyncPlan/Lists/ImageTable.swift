// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The number of an image in the ``ImageTable``, as long as an icon, an app or a document names it, or its file is there.
struct ImageID: Hashable, Comparable, Sendable {
    fileprivate let number: UInt32
    fileprivate var place: Int { Int(number) }

    fileprivate init(_ place: Int) { number = UInt32(place) }

    static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// All images that icons or apps show or that documents name, and those still to be evicted.
package struct ImageTable: Sendable {
    struct Row: Keyed {
        var boxed: Boxed<AppListDocument.Image>
        /// How many referenced icons show it, and apps in place of them.
        var icons: Int32 = 0
        /// How many documents name it.
        var documents: Int32 = 0

        var key: Digest {
            guard let digest = boxed.digest else { preconditionFailure("a row without an image") }
            return digest
        }
        var isShown: Bool { icons > 0 }
    }

    private(set) var rows = KeyedTable<Row>()
    /// The images that no document names any more, still to be evicted; icons may show them.
    private(set) var unnamed: Set<Digest> = []
    /// The known images whose files are missing or damaged.
    private(set) var missing: Set<Digest> = []
    /// The number of images that referenced icons, or apps in place of them, show.
    private(set) var shown = 0
    /// The number and total bytes of the images in `icons/`.
    package private(set) var holdings: (images: Int, bytes: Int) = (0, 0)

    subscript(id: ImageID) -> Row { rows[id.place] }

    var ids: [ImageID] { rows.places.map { ImageID($0) } }

    func id(of image: Digest) -> ImageID? { rows.index(of: image).map { ImageID($0) } }

    /// Whether a referenced icon shows the image, as its own or as a previous one.
    func isShown(_ image: Digest) -> Bool { rows.index(of: image).map { rows[$0].isShown } ?? false }

    /// Whether a generation names the image, or it is still in `icons/` since one did.
    func isKnown(_ image: Digest) -> Bool {
        rows.index(of: image).map { rows[$0].documents > 0 || unnamed.contains(image) } ?? false
    }

    package func isOnDisk(_ image: Digest) -> Bool { isKnown(image) && !missing.contains(image) }

    /// Whether an image is on disk and stays there, because a generation names it.
    func isKept(_ image: Digest) -> Bool { isOnDisk(image) && !unnamed.contains(image) }

    /// The images that can be evicted.
    var removable: some Collection<AppListDocument.Image> {
        unnamed.lazy.compactMap { image in rows[image].flatMap { $0.isShown ? nil : $0.boxed.wrappedValue } }
    }

    /// The shared box of an image.
    func boxed(_ image: Digest) -> Boxed<AppListDocument.Image>? { rows[image]?.boxed }

    /// The shared box of an image, or a new one if documents describe it differently.
    func boxed(_ image: AppListDocument.Image) -> Boxed<AppListDocument.Image> {
        if let boxed = boxed(image.sha256), boxed.wrappedValue == image { boxed } else { Boxed(wrappedValue: image) }
    }

    // MARK: Changes

    /// Counts an icon or app that shows the image.
    mutating func show(_ image: Boxed<AppListDocument.Image>) {
        guard let digest = image.digest else { return }
        let place = rows.place(of: digest, default: Row(boxed: image))
        if !rows[place].isShown { shown += 1 }
        rows[place].icons += 1
    }

    mutating func hide(_ image: Digest?) {
        guard let image, let place = rows.index(of: image) else { return }
        rows[place].icons -= 1
        if !rows[place].isShown { shown -= 1 }
        forgetIfDone(image, at: place)
    }

    /// Adds an image that a document describes, and is about to name.
    mutating func id(naming image: AppListDocument.Image) -> ImageID {
        let place = rows.place(of: image.sha256, default: Row(boxed: Boxed(wrappedValue: image)))
        if rows[place].isShown, rows[place].documents == 0, !unnamed.contains(image.sha256) {
            let boxed = boxed(image)
            rows[place].boxed = boxed
        }
        return ImageID(place)
    }

    /// Counts a document that names the image (``id(naming:)``); if none did before, it is assumed to be on disk.
    mutating func name(_ id: ImageID) {
        rows[id.place].documents += 1
        if rows[id.place].documents == 1, unnamed.remove(rows[id.place].key) == nil { count(fileOf: id.place, 1) }
    }

    mutating func forgetNaming(of id: ImageID) {
        rows[id.place].documents -= 1
        if rows[id.place].documents == 0 { unnamed.insert(rows[id.place].key) }
    }

    /// Records the files of images that documents name or named.
    package mutating func record(_ images: some Sequence<Digest>, areWhole: Bool) {
        for image in images where isKnown(image) && missing.contains(image) == areWhole {
            if areWhole { missing.remove(image) } else { missing.insert(image) }
            if let place = rows.index(of: image) { count(fileOf: place, areWhole ? 1 : -1) }
        }
        if missing.isEmpty { missing = [] }
    }

    /// Records that a file is gone, unless a document names it again.
    mutating func evict(_ image: Digest) {
        guard unnamed.remove(image) != nil, let place = rows.index(of: image) else { return }
        // An emptied set would keep its memory.
        if unnamed.isEmpty { unnamed = [] }
        if missing.remove(image) == nil { count(fileOf: place, -1) }
        forgetIfDone(image, at: place)
    }

    /// Forgets all documents and files: another cache folder is at the path.
    mutating func forgetFiles() {
        let shown = rows.elements.filter(\.isShown)
        self = ImageTable()
        for row in shown { for _ in 0..<row.icons { show(row.boxed) } }
    }

    /// Forgets an image that nothing names.
    private mutating func forgetIfDone(_ image: Digest, at place: Int) {
        if !rows[place].isShown, rows[place].documents == 0, !unnamed.contains(image) {
            rows.remove(at: place)
            // A vacant row keeps no image.
            rows[place].boxed = Boxed(wrappedValue: nil)
        }
    }

    private mutating func count(fileOf place: Int, _ sign: Int) {
        holdings.images += sign
        // Documents written by others may contain any size, so this must not trap.
        holdings.bytes &+= sign &* (rows[place].boxed.wrappedValue?.bytes ?? 0)
    }
}
