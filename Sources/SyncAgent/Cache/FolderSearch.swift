// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan
import SystemPackage

/// Goes through the images and the `by-url/` names of a cache folder, and holds them against what is to be there.
///
/// Each folder is listed once: where a name has the inode of its image in the listings, nothing else is asked about it.
struct FolderSearch {
    private let folder: CacheFolder
    private let removesOthers: Bool
    private let doubtful: Set<Digest>
    /// The images that are not there, and are under none of their other names.
    private(set) var lost: Set<Digest> = []
    /// The inode of each image that is there.
    private var inodes: [Digest: UInt64] = [:]

    /// - Parameters:
    ///   - folder: The cache folder.
    ///   - removesOthers: Whether what else there is beside images and names is removed.
    ///   - doubtful: The images that are read in any case.
    init(_ folder: CacheFolder, removesOthers: Bool, doubtful: Set<Digest> = []) {
        self.folder = folder
        self.removesOthers = removesOthers
        self.doubtful = doubtful
    }

    // MARK: Images

    /// Looks for the images; what is missing is put back from another name of it.
    ///
    /// Half of the folders are gone through on another thread meanwhile.
    ///
    /// - Parameters:
    ///   - images: What is to be there.
    ///   - isThorough: Whether images are read.
    ///   - temporary: The name by way of which files are given names; that of the other thread is a longer one.
    ///   - restored: Gets the names that were put back.
    /// - Throws: ``FileError`` if something could not be looked at or put back: then it is not known what is there.
    mutating func findImages(
        _ images: [CacheExpectation.Naming], isThorough: Bool, temporary: String, _ restored: inout [String]
    ) throws(FileError) {
        let fans = Array(Fans(images.lazy.map(\.image.sha256)).named)
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
        inodes.merge(there.search.inodes) { $1 }
        restored += there.restored
    }

    private mutating func findImages(
        _ images: [CacheExpectation.Naming], in fans: ArraySlice<Fans.Fan>, isThorough: Bool, temporary: String,
        _ restored: inout [String]
    ) throws(FileError) {
        inodes.reserveCapacity(images.count * fans.count / 256)
        var failure: FileError?
        for (fan, expected) in fans {
            let fan = "\(CacheLayout.icons)/\(fan)"
            var others = try listing(of: fan)
            lazy var sameImages = Dictionary(grouping: expected) { images[$0].image.sha256 }
            for image in expected.lazy.map({ images[$0].image })
            where inodes[image.sha256] == nil && !lost.contains(image.sha256) {
                let path = image.path
                // A path of another form is in no listing, or in that of another folder.
                let name = path.starts(withBytes: fan + "/") ? path.dropping(bytes: fan.utf8.count + 1) : nil
                let inode = name.flatMap { others.removeValue(forKey: $0) }
                do throws(FileError) {
                    var isThere = try isThere(
                        image, at: path, isThorough: isThorough || doubtful.contains(image.sha256))
                    if !isThere {
                        let names = (sameImages[image.sha256] ?? []).flatMap { images[$0].names }
                        isThere = try putBack(image, from: names, temporary: temporary)
                        if isThere { restored.append(path) }
                    }
                    if isThere {
                        inodes[image.sha256] = if let inode { inode } else { try folder.entry(path)?.inode }
                    } else {
                        lost.insert(image.sha256)
                        if removesOthers { folder.remove(path) }
                    }
                } catch {
                    // The others are put back all the same.
                    failure = error
                }
            }
            // What could not be looked at may be among them.
            if failure == nil { remove(others.keys, from: fan) }
        }
        if let failure { throw failure }
    }

    private func isThere(
        _ image: AppListDocument.Image, at path: String, isThorough: Bool
    ) throws(FileError) -> Bool {
        guard try folder.isPlausible(image, at: path) else { return false }
        return isThorough ? try isWhole(image, at: path) : true
    }

    /// Gives an image its name again, if one of its other names leads to it.
    ///
    /// - Returns: Whether one does.
    private func putBack(
        _ image: AppListDocument.Image, from names: [String], temporary: String
    ) throws(FileError) -> Bool {
        for name in names where try folder.isPlausible(image, at: name) {
            guard try isWhole(image, at: name) else { continue }
            try folder.replaceLink(name, at: image.path, temporary: temporary)
            return true
        }
        return false
    }

    /// Whether a file has the bytes of an image.
    ///
    /// What the disk cannot read is left to the scrubber, which says so.
    ///
    /// - Throws: ``FileError`` if it could not be read for another reason, which may pass.
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

    /// Looks at whether each URL's name leads to its image, and sees to it.
    ///
    /// - Parameters:
    ///   - images: What is to be there, after it was looked for.
    ///   - temporary: The name by way of which files are given names.
    ///   - restored: Gets the names that were put right.
    /// - Throws: ``FileError`` as when images are looked for.
    mutating func findNames(
        of images: [CacheExpectation.Naming], temporary: String, _ restored: inout [String]
    ) throws(FileError) {
        let digests = images.map { $0.url.map { Digest.of($0.text) } }
        var failure: FileError?
        let fans = Fans(digests.lazy.map { $0 })
        for (fan, expected) in fans.named {
            let fan = "\(CacheLayout.byURL)/\(fan)"
            var others = try listing(of: fan)
            for index in expected {
                guard let digest = digests[index], case let image = images[index].image,
                    let inode = inodes[image.sha256]
                else { continue }
                if others.removeValue(forKey: digest.hex) == inode { continue }
                let name = CacheLayout.byURL(digest)
                guard try leadsElsewhere(name, image) else { continue }
                do throws(FileError) {
                    try folder.replaceLink(image.path, at: name, temporary: temporary)
                    restored.append(name)
                } catch {
                    // The others are put right all the same.
                    failure = error
                }
            }
            remove(others.keys, from: fan)
        }
        if let failure { throw failure }
    }

    /// Whether a name does not lead to its image.
    private func leadsElsewhere(_ name: String, _ image: AppListDocument.Image) throws(FileError) -> Bool {
        guard let entry = try folder.entry(name), entry.size == image.bytes else { return true }
        // Where an image has all the links that its file system allows, names lead to copies.
        guard try entry.inode != folder.entry(image.path)?.inode else { return false }
        switch Verification.flaw(of: image, at: name, in: folder) {
        case nil, .unreadable: return false
        case .missing, .wrong: return true
        }
    }

    // MARK: Folders

    /// The inode numbers of what is in a folder, by name.
    private func listing(of fan: String) throws(FileError) -> [String: UInt64] {
        Dictionary(try folder.names(in: fan).map { ($0.name, $0.inode) }) { a, _ in a }
    }

    private func remove(_ names: some Sequence<String>, from fan: String) {
        guard removesOthers else { return }
        for name in names { folder.remove("\(fan)/\(name)") }
    }
}

/// What is in each of the two-digit folders, by the first byte of its digest.
private struct Fans {
    /// The name of a folder, and the numbers of what is in it.
    typealias Fan = (String, [Int])

    private var indices = [[Int]](repeating: [], count: 256)

    init(_ digests: some Sequence<Digest?>) {
        for (index, digest) in digests.enumerated() {
            if let digest { indices[digest.fan].append(index) }
        }
    }

    /// The names of all of these folders, each with the numbers of what is in it.
    var named: Zip2Sequence<[String], [[Int]]> { zip(CacheLayout.fanOut, indices) }
}

extension CacheExpectation.Naming {
    /// The `by-url/` name, if there is one.
    var names: [String] { url.map { [CacheLayout.byURL($0)] } ?? [] }
}

extension CacheFolder {
    /// Whether there is a file that may be an image, as far as that can be told without reading it.
    func isPlausible(_ image: AppListDocument.Image, at name: String) throws(FileError) -> Bool {
        guard let entry = try entry(name) else { return false }
        return entry.isOwn && entry.size == image.bytes
    }
}
