// SPDX-License-Identifier: Apache-2.0
import Glibc
package import IconCache
import SystemPackage

/// Verifies every file named by the newest manifest against its digest.
package struct Verification: Sendable {
    package struct Damage: Hashable, Sendable {
        /// The path of the file, relative to the cache folder.
        package var path: String
        /// What is wrong, as a clause.
        package var reason: String
        /// The image, if the file is or names one.
        package var image: Digest?
    }

    /// The number of images read.
    package private(set) var images = 0
    /// The total size of the images read.
    package private(set) var bytes = 0
    /// The damaged files, sorted by path.
    package private(set) var damage: [Damage] = []

    /// Reads everything on all cores, under a lease; calls `progress` on any thread after each image.
    ///
    /// - Throws: An ``IconCacheError`` if there is no readable manifest.
    package static func run(
        _ cache: IconCache, progress: @escaping @Sendable (_ total: Int) -> Void
    ) async throws -> Verification {
        let snapshot = try cache.snapshot()
        defer { snapshot.end() }
        let folder = try CacheFolder(cache.folder)
        var found = Verification()
        var images: [Digest: AppListDocument.Image] = [:]
        var shown = ShownImages()
        for (name, list) in snapshot.manifest.lists.sorted(by: { $0.key < $1.key }) {
            do {
                guard let document = try snapshot.document(of: name) else { continue }
                for image in document.images { images[image.sha256] = image }
                shown.add(document)
            } catch {
                found.damage.append(Damage(path: list.document, reason: "it is unreadable (\(error))"))
            }
        }
        found.damage += await read(Array(images.values), in: folder, progress: progress)
        let damaged = Set(found.damage.map(\.path))
        for (url, shown) in try folder.isCopy ? [:] : shown.byURL where !damaged.contains(shown.image.path) {
            let (name, image) = (CacheLayout.byURL(url), shown.image)
            guard let flaw = flaw(of: image, alsoAt: name, in: folder) else { continue }
            found.damage.append(Damage(path: name, reason: flaw.reason, image: image.sha256))
        }
        found.images = images.count
        found.bytes = images.values.reduce(0) { $0 + $1.bytes }
        found.damage.sort { $0.path < $1.path }
        return found
    }

    private static func read(
        _ images: [AppListDocument.Image], in folder: CacheFolder, progress: @escaping @Sendable (Int) -> Void
    ) async -> [Damage] {
        let workers = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return await withTaskGroup(of: [Damage].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var damage: [Damage] = []
                    for image in stride(from: worker, to: images.count, by: workers).lazy.map({ images[$0] }) {
                        if let flaw = flaw(of: image, at: image.path, in: folder) {
                            damage.append(Damage(path: image.path, reason: flaw.reason, image: image.sha256))
                        }
                        progress(images.count)
                    }
                    return damage
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// What is wrong with an image's file; `nil` if it is intact.
    static func flaw(of image: AppListDocument.Image, at name: String, in folder: CacheFolder) -> Flaw? {
        do {
            let file = try folder.open(name)
            defer { try? file.close() }
            let status = try file.stat()
            // A file of another length is not read: it may be far larger than the memory.
            guard status.type != .regular || status.size == image.bytes else {
                return .wrong("it has \(counted(Int(status.size), "byte")) instead of \(image.bytes)")
            }
            let digest = Digest.of(try FileBytes.read(file, upTo: image.bytes))
            return digest == image.sha256 ? nil : .wrong("its digest does not match")
        } catch let error as FileError {
            return error.saysMissing ? .missing : .unreadable(error)
        } catch {
            let errno = error as? Errno ?? .ioError
            return errno == FileBytes.notAFile
                ? .wrong("it is not a regular file") : .unreadable(folder.failure("read", name, errno))
        }
    }

    /// What is wrong with another name of an image, which is read only if it leads to another file; `nil` if it is intact.
    static func flaw(of image: AppListDocument.Image, alsoAt name: String, in folder: CacheFolder) -> Flaw? {
        do throws(FileError) {
            guard try folder.entry(name)?.inode != folder.entry(image.path)?.inode else { return nil }
        } catch {
            return .unreadable(error)
        }
        return flaw(of: image, at: name, in: folder)
    }

    enum Flaw {
        case missing
        /// The whole file could be read.
        case wrong(String)
        /// The file's state is unknown: a later read may succeed.
        case unreadable(FileError)

        /// Whether the file is certainly not the image.
        var isCertain: Bool { if case .unreadable = self { false } else { true } }

        /// The reason as a clause.
        var reason: String {
            switch self {
            case .missing: "it is missing"
            case .wrong(let reason): reason
            case .unreadable(let error): "\(error)"
            }
        }
    }
}

extension CacheFolder {
    /// Whether the folder is a copy for readers by manifest, such as an export: no agent held it, and it has no names for
    /// images by URL.
    package var isCopy: Bool {
        get throws(FileError) {
            guard try entry(CacheLayout.lock) == nil else { return false }
            return try entry(CacheLayout.byURL) == nil
        }
    }
}

extension AppListDocument {
    /// The images that apps show, and their renditions.
    var images: some Sequence<Image> { apps.lazy.flatMap(\.images) }
}
