// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan
import SystemPackage

/// Compares the images and `by-url/` names of a cache folder with what is expected.
///
/// Each folder is listed once; a name whose inode in the listing is that of its image needs no further check.
struct FolderSearch {
    private let folder: CacheFolder
    /// The permissions that readers have.
    private let readMode: FilePermissions
    /// Whether to remove everything that is not expected.
    private let removesOthers: Bool
    /// The images to read in any case.
    private let doubtful: Set<Digest>
    /// The images that are missing under all of their names.
    private(set) var lost: Set<Digest> = []
    /// The images that were restored, possibly as other files than their names lead to.
    private var restoredImages: Set<Digest> = []
    /// Why a name could not be corrected.
    private(set) var refusal: FileError?
    /// The inode of the image of each naming; 0 where it was not found.
    ///
    /// By digest, an image would take 100 bytes.
    private var inodes: [UInt64] = []

    init(
        _ folder: CacheFolder, readMode: FilePermissions, removesOthers: Bool, doubtful: Set<Digest> = []
    ) {
        self.folder = folder
        self.readMode = readMode
        self.removesOthers = removesOthers
        self.doubtful = doubtful
    }

    // MARK: Images

    /// Searches for the images, and reads them if it is thorough; restores missing ones from another of their names.
    ///
    /// Half of the folders are searched on another thread, which appends `-2` to the temporary name of new links.
    /// `restored` collects the restored names.
    ///
    /// - Throws: ``FileError`` if something could not be inspected or restored: then the result is incomplete.
    mutating func findImages(
        _ images: CacheExpectation.Namings, isThorough: Bool, temporary: String, _ restored: inout [String]
    ) throws(FileError) {
        let fans = Self.fans(images.indices.lazy.map { images.digest(at: $0) })
        let (mine, others) = (fans.prefix(fans.count / 2), fans.dropFirst(fans.count / 2))
        let (found, foundThere) = meanwhile("search") { [self] in
            Result { () throws(FileError) in
                var (search, restored) = (self, [String]())
                try search.findImages(
                    images, in: others, isThorough: isThorough, temporary: temporary + "-2", &restored)
                return (search: search, restored: restored)
            }
        } here: {
            Result { () throws(FileError) in
                try findImages(images, in: mine, isThorough: isThorough, temporary: temporary, &restored)
            }
        }
        try found.get()
        let there = try foundThere.get()
        lost.formUnion(there.search.lost)
        restoredImages.formUnion(there.search.restoredImages)
        refusal = refusal ?? there.search.refusal
        for (_, expected) in others {
            for index in expected { inodes[index] = there.search.inodes[index] }
        }
        restored += there.restored
    }

    private mutating func findImages(
        _ images: CacheExpectation.Namings, in fans: ArraySlice<Fan>, isThorough: Bool, temporary: String,
        _ restored: inout [String]
    ) throws(FileError) {
        inodes = Array(repeating: 0, count: images.count)
        var failure: FileError?
        for (fan, expected) in fans {
            let fan = "\(CacheLayout.icons)/\(fan)"
            var others = try listing(of: fan)
            lazy var sameImages = Dictionary(grouping: expected) { images.digest(at: $0) }
            var found: [Digest: UInt64] = [:]
            for image in expected.lazy.map(images.image(at:))
            where found[image.sha256] == nil && !lost.contains(image.sha256) {
                let path = image.path
                // An image whose path has another form is not listed, or is listed in another folder.
                let name = path.starts(withBytes: fan + "/") ? path.dropping(bytes: fan.utf8.count + 1) : nil
                let inode = name.flatMap { others.removeValue(forKey: $0) }
                do throws(FileError) {
                    var isThere = try isThere(
                        image, at: path, isRead: isThorough || doubtful.contains(image.sha256))
                    let wasThere = isThere
                    if !isThere {
                        isThere = try reclaim(image, at: path, temporary: temporary)
                        if !isThere {
                            let names = (sameImages[image.sha256] ?? []).flatMap { images[$0].names }
                            isThere = try putBack(image, from: names, temporary: temporary)
                        }
                        if isThere {
                            restored.append(path)
                            restoredImages.insert(image.sha256)
                        }
                    }
                    if isThere {
                        found[image.sha256] = if wasThere, let inode { inode } else { try folder.entry(path)?.inode }
                    } else {
                        lost.insert(image.sha256)
                        if removesOthers { folder.remove(path) }
                    }
                } catch {
                    // Go on, so that the others are restored.
                    failure = error
                }
            }
            for index in expected { inodes[index] = found[images.digest(at: index)] ?? 0 }
            // After a failure, expected files may be among them.
            if failure == nil { remove(others.keys, from: fan) }
        }
        if let failure { throw failure }
    }

    private func isThere(
        _ image: AppListDocument.Image, at name: String, isRead: Bool = true
    ) throws(FileError) -> Bool {
        guard try folder.isPlausible(image, at: name, readMode: readMode) else { return false }
        return isRead ? try isWhole(image, at: name) : true
    }

    private mutating func reclaim(
        _ image: AppListDocument.Image, at name: String, temporary: String
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            return try folder.reclaim(image, at: name, readMode: readMode, temporary: temporary)
        } catch {
            // Without room for a copy, another user's file with the right bytes stays until there is some.
            guard error.isOutOfSpace else { throw error }
            refusal = refusal ?? error
            return true
        }
    }

    /// Restores an image from one of its other names, if one is intact.
    ///
    /// - Returns: Whether it was restored.
    private mutating func putBack(
        _ image: AppListDocument.Image, from names: [String], temporary: String
    ) throws(FileError) -> Bool {
        for name in names {
            if try !isThere(image, at: name), try !reclaim(image, at: name, temporary: temporary) { continue }
            try folder.replaceLink(name, at: image.path, temporary: temporary)
            return true
        }
        return false
    }

    /// Whether a file has the bytes of an image.
    ///
    /// A read error of the disk counts as intact: the scrubber reports it.
    ///
    /// - Throws: ``FileError`` if the file could not be read for another, perhaps transient, reason.
    private func isWhole(_ image: AppListDocument.Image, at name: String) throws(FileError) -> Bool {
        switch Verification.flaw(of: image, at: name, in: folder) {
        case nil: return true
        case .missing, .wrong: return false
        case .unreadable(let error):
            guard error.errno == .ioError, name == image.path else { throw error }
            return true
        }
    }

    // MARK: Names

    /// Checks that each URL's name leads to its image, after the search for them, and corrects it.
    ///
    /// - Throws: ``FileError`` if something could not be inspected.
    mutating func findNames(
        of images: CacheExpectation.Namings, temporary: String, _ restored: inout [String]
    ) throws(FileError) {
        let digests = images.indices.map { index in images.url(at: index).map { Digest.of($0.text) } }
        for (fan, expected) in Self.fans(digests) {
            let fan = "\(CacheLayout.byURL)/\(fan)"
            var others = try listing(of: fan)
            for index in expected {
                guard let digest = digests[index], inodes[index] != 0 else { continue }
                let image = images.image(at: index)
                if others.removeValue(forKey: digest.hex) == inodes[index] { continue }
                let name = CacheLayout.byURL(digest)
                if !restoredImages.contains(image.sha256), try !leadsElsewhere(name, image) { continue }
                do throws(FileError) {
                    try folder.replaceLink(image.path, at: name, temporary: temporary)
                    restored.append(name)
                } catch {
                    // Go on, so that the others are corrected.
                    refusal = refusal ?? error
                }
            }
            remove(others.keys, from: fan)
        }
    }

    private func leadsElsewhere(_ name: String, _ image: AppListDocument.Image) throws(FileError) -> Bool {
        guard let entry = try folder.entry(name), entry.isPlausible(image, readMode: readMode) else { return true }
        // It can be a copy, if the image has as many links as its file system allows.
        guard try entry.inode != folder.entry(image.path)?.inode else { return false }
        return Verification.flaw(of: image, at: name, in: folder)?.isCertain ?? false
    }

    // MARK: Folders

    /// The name of a two-digit folder, and the indices of its expected entries.
    private typealias Fan = (String, [Int])

    /// All two-digit folders, with their expected entries by the first byte of the digests.
    private static func fans(_ digests: some Sequence<Digest?>) -> [Fan] {
        var indices = [[Int]](repeating: [], count: 256)
        for case (let index, let digest?) in digests.enumerated() { indices[digest.fan].append(index) }
        return Array(zip(CacheLayout.fanOut, indices))
    }

    /// The inode numbers in a folder, by name.
    private func listing(of fan: String) throws(FileError) -> [String: UInt64] {
        Dictionary(try folder.names(in: fan).map { ($0.name, $0.inode) }) { a, _ in a }
    }

    private func remove(_ names: some Sequence<String>, from fan: String) {
        guard removesOthers else { return }
        for name in names { folder.remove("\(fan)/\(name)") }
    }
}

extension CacheExpectation.Naming {
    var names: [String] { url.map { [CacheLayout.byURL($0)] } ?? [] }
}

extension CacheFolder.Entry {
    fileprivate func isPlausible(_ image: AppListDocument.Image, readMode: FilePermissions) -> Bool {
        isOwn && self.readMode.isSuperset(of: readMode) && size == image.bytes
    }
}

extension CacheFolder {
    /// Whether a file can be the image, judged by owner, mode and size; readers need `readMode` to read it.
    func isPlausible(
        _ image: AppListDocument.Image, at name: String, readMode: FilePermissions = []
    ) throws(FileError) -> Bool {
        try entry(name)?.isPlausible(image, readMode: readMode) ?? false
    }
}
