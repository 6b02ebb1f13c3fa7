// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import IconCache
import ImageChecks
import SyncAgent
import SystemPackage

/// An open image of the cache; it stays readable when a refresh or an eviction unlinks it.
struct ImageFile: Sendable {
    let descriptor: OwnedDescriptor
    let length: Int
    let digest: Digest
    let mediaType: String
}

/// Opens and reads images and documents of lists on its own thread, so that a hanging disk delays only requests for them.
actor ImageReader {
    /// The name of an image: only digests and known suffixes become paths.
    enum Name: Equatable {
        /// The current image of the URL with this digest.
        case url(Digest)
        /// The image of the URL with this digest, to be drawn in this many pixels: a rendition, or the image itself.
        case sized(Digest, pixels: Int)
        case image(Digest, ImageType)
        /// A file outside the cache that stands for missing images.
        case placeholder(FilePath)

        var isPlaceholder: Bool { if case .placeholder = self { true } else { false } }
    }

    private static let mostVerified = 10_000

    /// The largest placeholder, in bytes: it is read into memory for its digest.
    private static let largestPlaceholder = 5 << 20

    /// The number of bytes read at once; the first chunk determines the type, and a drawing may begin with a long
    /// comment.
    static let chunk = 1 << 16

    private let thread = FileThread("images")
    /// The manifest's file when it was last read, and what it said.
    private var mark: (file: FileIdentity, isPrivate: Bool)?
    private let folder: FilePath
    /// The files whose digests were found to be those in their names.
    private var verified: [Digest: FileIdentity] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(cache folder: FilePath) {
        self.folder = folder
    }

    /// Opens an image and determines its digest and type; `nil` if it does not exist, is damaged, or is no usable
    /// placeholder.
    ///
    /// - Throws: The reason why an image that exists cannot be read.
    /// - Complexity: O(*n*) in the number of bytes for an image named by URL, and once for one named by its digest: the
    ///   digest is computed.
    func open(_ name: Name) throws(Errno) -> ImageFile? {
        switch name {
        case .url(let digest): return try open(CacheLayout.byURL(digest), name)
        case .placeholder(let path): return try? open(path.string, name)
        case .image(let digest, let type): return try open(CacheLayout.image(digest, suffix: type.suffix), name)
        case .sized(let digest, let pixels):
            for size in IconCache(at: folder).renditionSizes(from: pixels) {
                do throws(Errno) {
                    if let file = try open(CacheLayout.bySize(size, digest), name) { return file }
                } catch  where error.isShortage {
                    throw error
                } catch {
                    continue
                }
            }
            return try open(CacheLayout.byURL(digest), name)
        }
    }

    private func open(_ path: String, _ name: Name) throws(Errno) -> ImageFile? {
        let descriptor: OwnedDescriptor
        var options: FileDescriptor.OpenOptions = [.closeOnExec, .nonBlocking]
        // The path of the placeholder, which the operator chose, may be a link.
        if !name.isPlaceholder { options.insert(.noFollow) }
        do {
            let file = try FileDescriptor.open(folder.pushing(FilePath(path)), .readOnly, options: options)
            descriptor = OwnedDescriptor(file.rawValue)
        } catch {
            let errno = error as? Errno ?? .ioError
            if errno == .noSuchFileOrDirectory || errno == .notDirectory { return nil }
            throw errno
        }
        return try describe(descriptor, name)
    }

    private func describe(_ descriptor: OwnedDescriptor, _ name: Name) throws(Errno) -> ImageFile? {
        let status = try FileDescriptor(rawValue: descriptor.raw).stat()
        guard status.type == .regular else { return nil }
        let length = Int(status.size)
        guard length <= FileBytes.longest else { throw .fileTooLarge }
        if name.isPlaceholder, length > Self.largestPlaceholder { return nil }
        let identity = FileIdentity(status)
        if case .image(let digest, let type) = name, verified[digest] == identity {
            return ImageFile(descriptor: descriptor, length: length, digest: digest, mediaType: type.mediaType)
        }
        var hash = SHA256()
        var offset = 0
        var type: ImageType?
        while offset < length {
            guard let bytes = read(descriptor, from: offset, count: min(Self.chunk, length - offset)), !bytes.isEmpty
            else { throw .ioError }
            if offset == 0 { type = ImageType(recognisedIn: bytes.span.bytes) }
            bytes.withUnsafeBytes { hash.update($0) }
            offset += bytes.count
        }
        let found = hash.finish()
        if case .image(let digest, let type) = name {
            // Clients would keep a damaged image for a year.
            guard found == digest else { return nil }
            if verified.count >= Self.mostVerified { verified = [:] }
            verified[digest] = identity
            return ImageFile(descriptor: descriptor, length: length, digest: digest, mediaType: type.mediaType)
        }
        guard let type = name.isPlaceholder ? type : try intactType(type, found, descriptor) else { return nil }
        return ImageFile(descriptor: descriptor, length: length, digest: found, mediaType: type.mediaType)
    }

    /// The type of a file that was found by the URL; `nil` if it is damaged, or no image.
    ///
    /// It is another link to a file in `icons/`, or a copy, whose name has the digest of the image. A drawing is not
    /// recognised if it begins with a longer comment than was read.
    private func intactType(
        _ type: ImageType?, _ digest: Digest, _ descriptor: OwnedDescriptor
    ) throws(Errno) -> ImageType? {
        for suffix in [type ?? .svg] + ImageType.allCases {
            let image = folder.appending(CacheLayout.image(digest, suffix: suffix.suffix))
            do throws(Errno) {
                _ = try image.stat()
                return type ?? (suffix == .svg ? .svg : nil)
            } catch  where error == .noSuchFileOrDirectory || error == .notDirectory {
                continue
            } catch {
                return type
            }
        }
        // A file without another link was replaced or evicted meanwhile, or its name in `icons/` was removed.
        return try FileDescriptor(rawValue: descriptor.raw).stat().linkCount > 1 ? nil : type
    }

    /// Whether the cache that is at the path now says that it has private icons.
    ///
    /// Another cache can come to the path at any time: ask after a file was opened.
    ///
    /// - Throws: The reason why it does not say.
    func isPrivate() throws -> Bool {
        let file: FileIdentity
        do throws(Errno) {
            file = FileIdentity(try folder.appending(CacheLayout.manifest).stat())
        } catch {
            // A cache whose manifest was removed has generations.
            let generations = folder.appending(CacheLayout.generations).string
            let names = try? FileManager.default.contentsOfDirectory(atPath: generations)
            guard error == .noSuchFileOrDirectory, names?.isEmpty ?? (access(generations, F_OK) != 0) else {
                throw error
            }
            return false
        }
        if let mark, mark.file == file { return mark.isPrivate }
        let isPrivate = try IconCache(at: folder).manifest().isPrivate
        mark = (file, isPrivate)
        return isPrivate
    }

    /// The published lists, sorted by name.
    func lists() throws(IconCacheError) -> [(key: ListName, value: Manifest.List)] {
        try IconCache(at: folder).snapshot().manifest.lists.sorted { $0.key < $1.key }
    }

    /// The digest of a list's document, and the document unless the client has it already; `nil` if the list is not
    /// published.
    func list(
        _ name: ListName, unless isCurrent: @Sendable (Digest) -> Bool
    ) throws(IconCacheError) -> (digest: Digest, json: [UInt8]?)? {
        let snapshot = try IconCache(at: folder).snapshot()
        defer { snapshot.end() }
        guard let list = snapshot.manifest.lists[name] else { return nil }
        return (list.sha256, isCurrent(list.sha256) ? nil : try snapshot.json(of: list))
    }

    /// Reads a part of an image, with fewer bytes at its end; `nil` if reading fails.
    func read(_ file: ImageFile, from offset: Int, count: Int) -> [UInt8]? {
        read(file.descriptor, from: offset, count: count)
    }

    private func read(_ descriptor: OwnedDescriptor, from offset: Int, count: Int) -> [UInt8]? {
        try? [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try FileDescriptor(rawValue: descriptor.raw)
                .read(fromAbsoluteOffset: Int64(offset), into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
