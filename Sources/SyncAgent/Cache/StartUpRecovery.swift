// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Logging
import SyncPlan
import SystemPackage

/// Repairs a cache folder after any crash, and reads its contents.
///
/// The generations on disk are the truth. The first inspection of the ``CacheInspector`` checks their files; nothing is
/// published before it, but the agent need not wait for it. A file that cannot be read, or has a later format, is not
/// damaged: it stays, and the start fails.
struct StartUpRecovery {
    private let folder: CacheFolder
    private let logger: Logger
    private var state = RestoredState()
    /// Whether it is unknown if the current generation passed its barrier; then its images are read and verified.
    private var isDoubtful = false
    /// Whether the document of the pins is damaged, so that the pins of an earlier generation, or none, apply.
    private var hasOldPins = false
    /// The files that were given a name.
    private var named: [String] = []

    /// Prepares the folder, and returns its contents.
    ///
    /// - Throws: ``FileError`` if the folder cannot be read or written, and
    ///   ``IconCacheError/unknownFormat(path:format:)``.
    static func run(_ folder: CacheFolder, logger: Logger) throws -> RestoredState {
        var recovery = StartUpRecovery(folder: folder, logger: logger)
        try recovery.makeFolders()
        try recovery.readGenerations()
        if recovery.isDoubtful { try recovery.readImages() }
        try recovery.putInForce()
        // Flush the repairs, and the generation in force: a killed agent may not have flushed it. If none is in force,
        // the barrier of the first publication suffices.
        let barrier = Barrier(folder: folder)
        if !recovery.state.manifests.isEmpty || !barrier.flushesWhole { try barrier.pass(files: recovery.named) }
        recovery.state.hasRenditionNames =
            try folder.status(CacheLayout.bySize) != nil || folder.status(CacheLayout.theme) != nil
        return recovery.state
    }

    private mutating func makeFolders() throws(FileError) {
        try folder.makeTree()
        state.partials = try Partials.clearStaging(of: folder)
        if try folder.makeTag(temporary: Self.temporary) { named.append(CacheLayout.tag) }
    }

    private static let temporary = StagingPath.of("recovery")

    // MARK: Generations

    private mutating func readGenerations() throws {
        let numbers = try folder.generationNumbers.sorted()
        let published = try readManifest(CacheLayout.manifest)
        isDoubtful = published == nil
        let used = CacheLayout.usedGenerationNumbers
        state.nextGeneration = max(numbers.last(where: used.contains) ?? 0, published?.generation ?? 0) + 1
        for number in numbers {
            let name = CacheLayout.generation(number)
            // Generations after the published one never came into force.
            guard number <= published?.generation ?? .max, let manifest = try readManifest(name) else {
                try folder.discard(name)
                continue
            }
            guard manifest.generation == number else {
                logger.warning("generation file with a wrong number", metadata: ["file": "\(name)"])
                try folder.discard(name)
                continue
            }
            try restore(manifest)
        }
        if let published, state.manifests.last?.generation != published.generation {
            let name = CacheLayout.generation(published.generation)
            try folder.link(CacheLayout.manifest, to: name)
            named.append(name)
            try restore(published)
        }
        if hasOldPins {
            // Pins are stored nowhere else.
            logger.error(
                "pins damaged: the latest changes are lost; check them with syncagent list pins",
                metadata: ["pins": "\(state.manifests.last?.lists[Reconciler.pinList]?.apps ?? 0)"])
        }
        for entry in try folder.names(in: CacheLayout.lists) {
            // Other names are not the agent's.
            guard let digest = CacheLayout.documentDigest(fileName: entry.name), state.documents[digest] == nil else {
                continue
            }
            try folder.discard("\(CacheLayout.lists)/\(entry.name)")
        }
    }

    /// Restores a generation; a list with a damaged document stays as in the generation before.
    private mutating func restore(_ manifest: Manifest) throws {
        var whole = manifest
        for (name, list) in manifest.lists where try !readDocument(list, of: name) {
            whole.lists[name] = state.manifests.last?.lists[name]
        }
        hasOldPins = whole.lists[Reconciler.pinList] != manifest.lists[Reconciler.pinList]
        state.isDamaged = whole != manifest
        state.manifests.append(whole)
    }

    /// - Returns: `nil` if the file is missing or damaged.
    private func readManifest(_ name: String) throws -> Manifest? {
        guard let bytes = try folder.readIfPresent(name) else { return nil }
        do throws(FormatError) {
            let manifest = try Manifest(json: bytes)
            guard CacheLayout.usedGenerationNumbers.contains(manifest.generation) else {
                throw .damaged("its number is one of the last")
            }
            return manifest
        } catch .damaged(let reason) {
            logger.warning("generation damaged", metadata: ["file": "\(name)", "reason": "\(reason)"])
            return nil
        } catch {
            throw IconCacheError(error, in: folder.path.appending(name).string)
        }
    }

    /// - Returns: `false` if the document is missing or damaged, or is that of another list.
    private mutating func readDocument(_ list: Manifest.List, of name: ListName) throws -> Bool {
        if let document = state.documents[list.sha256], document.list == name { return true }
        if let bytes = try folder.readIfPresent(list.document), Digest.of(bytes) == list.sha256 {
            do {
                let document = try AppListDocument(json: bytes)
                if document.list == name {
                    state.documents[list.sha256] = document
                    return true
                }
            } catch .damaged {
                // Treat it like a wrong digest.
            } catch {
                throw IconCacheError(error, in: folder.path.appending(list.document).string)
            }
        }
        logger.warning("list document damaged", metadata: ["document": "\(list.document)"])
        return false
    }

    /// Makes the newest good generation the manifest.
    ///
    /// A generation that may never have been in force and lacks files does not become the manifest; the next publication
    /// does.
    private mutating func putInForce() throws(FileError) {
        guard let current = state.manifests.last, !isDoubtful || isWhole(current) else {
            return try folder.discard(CacheLayout.manifest)
        }
        let name = CacheLayout.generation(current.generation)
        // In a copied folder the two names can be separate files, but a lease is on one inode.
        if try folder.isInForce(current.generation), !folder.mayHaveLocksPerName { return }
        if isDoubtful {
            logger.warning(
                "manifest missing or damaged: using the newest good generation",
                metadata: ["generation": "\(current.generation)"])
            let images = images(of: current).map(\.path)
            try Barrier(folder: folder).pass(files: [name] + current.lists.values.map(\.document) + images)
        }
        try folder.putInForce(current.generation, temporary: Self.temporary)
        named += [name, CacheLayout.manifest]
    }

    private func isWhole(_ manifest: Manifest) -> Bool {
        !state.isDamaged && state.missing.isDisjoint(with: images(of: manifest).map(\.sha256))
    }

    // MARK: Images

    private func images(of manifest: Manifest) -> Set<AppListDocument.Image> {
        Set(manifest.lists.values.compactMap { state.documents[$0.sha256] }.flatMap(\.images))
    }

    /// Whether an image has the right bytes; the first inspection corrects the owner and mode of its file.
    private func isWhole(_ image: AppListDocument.Image) throws(FileError) -> Bool {
        do throws(FileError) {
            return try folder.readIfPresent(image.path, upTo: image.bytes).map(Digest.of) == image.sha256
        } catch  where error.errno == .permissionDenied {
            return try folder.reclaim(
                image, at: image.path, readMode: folder.readMode, temporary: Self.temporary)
        }
    }

    /// Verifies the images of all generations, and records missing and damaged ones.
    private mutating func readImages() throws(FileError) {
        for image in Set(state.documents.values.flatMap(\.images)) {
            if try isWhole(image) { continue }
            logger.warning("image missing or damaged", metadata: ["path": "\(image.path)"])
            state.missing.insert(image.sha256)
        }
    }
}
