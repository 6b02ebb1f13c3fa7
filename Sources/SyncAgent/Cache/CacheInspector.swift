// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
package import Logging
package import SyncPlan
import SystemPackage

/// Checks the cache folder, and repairs damage that needs no download.
///
/// Cache cleaners and people remove files of a running agent. It shares its thread with the ``Publisher``, so nothing
/// is published or removed meanwhile.
package actor CacheInspector {
    private let publisher: Publisher
    private let folder: CacheFolder
    /// The agent's lock on the cache folder; `nil` if the repair runs without an agent.
    private let lock: FolderLock?
    private let barrier: Barrier
    private let logger: Logger
    /// The permissions that readers have by the mode that the folder had at the start.
    private let readMode: FilePermissions
    /// The state of the folders when everything was last in place.
    private var shape: CacheFolder.Shape
    /// The contents of an adopted folder, until they are reported.
    private var adopted: AdoptedCache?
    /// The highest generation number found in an adopted folder.
    private var latestGeneration = 0
    /// The newest generation's file, as first seen.
    private var newest: (generation: Int, file: FileFingerprint)?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { publisher.unownedExecutor }

    /// Creates an inspector for the publisher's cache folder, which must be in good order.
    package init(_ publisher: Publisher, lock: FolderLock?, logger: Logger) {
        self.publisher = publisher
        folder = publisher.folder
        self.lock = lock
        self.logger = logger
        barrier = Barrier(folder: folder)
        readMode = folder.readMode
        shape = folder.shape
    }

    /// Checks the folder: quickly, or completely if `expected` has images.
    package func inspect(_ expected: CacheExpectation) -> CacheInspection {
        var found = inspectFiles(expected)
        found.lacksRenditionNames = !areInPlace(expected.renditionNames)
        return found
    }

    private func areInPlace(_ names: [RenditionName]) -> Bool {
        names.allSatisfy { name in
            // A name that cannot be inspected counts as in place: it is not known to be missing.
            guard (try? folder.entry(name.path)) != nil else { return true }
            do throws(FileError) {
                return try folder.leads(name.subject.path(name.size), to: name.path)
            } catch {
                return error.errno != .notDirectory && error.errno != .tooManySymbolicLinkLevels
            }
        }
    }

    private func inspectFiles(_ expected: CacheExpectation) -> CacheInspection {
        guard let images = expected.images else {
            var found = CacheInspection()
            found.isSuspicious = !isInPlace(expected)
            return found
        }
        do {
            let found = try restore(expected, images)
            shape = folder.shape
            adopted = nil
            if let refusal = found.refusal {
                logger.error("cannot correct names or modes in the cache folder", metadata: ["reason": "\(refusal)"])
            }
            if let summary = found.summary {
                logger.error("cache files missing or changed: restoring them", metadata: ["lost": "\(summary)"])
            }
            return found
        } catch {
            logger.error("cannot repair the cache folder", metadata: ["reason": "\(error)"])
            var found = CacheInspection()
            found.trouble = "\(error)"
            return found
        }
    }

    /// Whether everything that is cheap to check is in place: folders, manifest, documents and a sample of the images.
    private func isInPlace(_ expected: CacheExpectation) -> Bool {
        do {
            guard folder.isAtItsPath else { return false }
            try lock?.renew(in: folder.descriptor)
            guard folder.shape == shape, try isInForce(expected.generation) else { return false }
            if try folder.hasOtherMode(than: readMode, CacheLayout.manifest) { return false }
            return try folder.keepingFoldersOpen { () throws(FileError) in
                for document in expected.documents.values {
                    let name = CacheLayout.document(document)
                    guard try folder.entry(name) != nil, try !folder.hasOtherMode(than: readMode, name) else {
                        return false
                    }
                }
                for naming in expected.sample {
                    for name in [naming.image.path] + naming.names {
                        if try !folder.isPlausible(naming.image, at: name, readMode: readMode) { return false }
                    }
                }
                return true
            }
        } catch {
            // The complete inspection reports the reason.
            return false
        }
    }

    private func isInForce(_ generation: Int?) throws(FileError) -> Bool {
        guard let generation else { return true }
        guard try folder.isInForce(generation), let file = try folder.status(CacheLayout.manifest) else { return false }
        let found = FileFingerprint(file)
        if newest?.generation != generation { newest = (generation, found) }
        // The ctime is not compared: it changes with each new link.
        return newest.map { $0.file.size == found.size && $0.file.modified == found.modified } ?? false
    }

    private func restore(_ expected: CacheExpectation, _ images: CacheExpectation.Namings) throws -> CacheInspection {
        if !folder.isAtItsPath { try adopt() }
        try lock?.renew(in: folder.descriptor)
        // A different folder can contain anything: verify its files.
        let isThorough = shape != folder.shape
        try folder.makeTree()
        _ = try folder.makeTag(temporary: Self.temporary)
        var found = CacheInspection()
        found.adopted = adopted
        var (restored, refusal): ([String], FileError?) = ([], nil)
        func restoreMode(_ name: String) throws(FileError) -> Bool {
            guard try folder.hasOtherMode(than: readMode, name) else { return false }
            do throws(FileError) {
                try folder.setMode(readMode, ofFile: name)
                restored.append(name)
                return true
            } catch {
                refusal = error
                return false
            }
        }
        _ = try restoreMode(CacheLayout.manifest)
        found.lacksManifest = try !isInForce(adopted?.manifests.last?.generation ?? expected.generation)
        let numbers = try folder.generationNumbers.filter(CacheLayout.usedGenerationNumbers.contains)
        found.latestGeneration = max(latestGeneration, numbers.max() ?? 0)
        for (list, digest) in expected.documents {
            // Others may have written to one whose mode was changed.
            let wasChanged = try restoreMode(CacheLayout.document(digest))
            guard try !isWhole(digest, isThorough: isThorough || wasChanged) else { continue }
            found.lostDocuments.insert(list)
            // It was removed.
            if wasChanged { restored.removeLast() }
        }
        // The plan does not know the contents of an adopted folder yet.
        var search = FolderSearch(
            folder, readMode: readMode, removesOthers: expected.removesOthers && adopted == nil,
            doubtful: expected.doubtful)
        do throws(FileError) {
            try folder.keepingFoldersOpen { () throws(FileError) in
                try search.findImages(images, isThorough: isThorough, temporary: Self.temporary, &restored)
                try search.findNames(of: images, temporary: Self.temporary, &restored)
            }
        } catch {
            if !restored.isEmpty { try? barrier.pass(files: restored) }
            throw error
        }
        found.lostImages = search.lost
        found.refusal = (search.refusal ?? refusal).map { "\($0)" }
        found.restoredNames = restored.count
        if !restored.isEmpty { try barrier.pass(files: restored) }
        if found.lacksManifest, found.lostDocuments.isEmpty, found.lostImages.isEmpty, try putInForce(expected) {
            found.lacksManifest = false
            found.restoredNames += 1
        }
        return found
    }

    /// Restores the manifest of a generation whose files are all in place; needs no space.
    ///
    /// - Returns: `false` if the generation's file has changed.
    private func putInForce(_ expected: CacheExpectation) throws -> Bool {
        guard let generation = expected.generation else { return false }
        let name = CacheLayout.generation(generation)
        guard try folder.entry(name) != nil,
            let manifest = try? Manifest(json: folder.read(name)), manifest.generation == generation,
            manifest.lists.mapValues(\.sha256) == expected.documents
        else { return false }
        try barrier.pass(files: [name])
        try folder.putInForce(generation, temporary: Self.temporary)
        newest = nil
        try barrier.pass(names: [name, CacheLayout.manifest])
        return true
    }

    /// Adopts the folder that is now at the cache folder's path; creates one if there is none.
    ///
    /// The files that its generations name are retained, as after a start.
    private func adopt() throws {
        // The umask removes what `cache.mode` does not grant.
        try AgentFolders.make(folder.path, mode: CacheFolder.openMode)
        let there = try CacheFolder(folder.path)
        // The path may have been inaccessible a moment ago.
        if folder.isAtItsPath { return }
        guard try there.isOurs else { throw FolderError.foreign(folder.path) }
        try there.checkTrust()
        func switchOver() throws {
            if try Self.hasGenerations(there) {
                let restored = try StartUpRecovery.run(there, logger: logger)
                latestGeneration = max(latestGeneration, restored.nextGeneration - 1)
                adopted = AdoptedCache(restored)
            }
            try folder.become(there)
            // The new folder can have files of the same names, which its generations need.
            publisher.staged.forgetFolder()
        }
        // Without generations in the new folder, the adopted ones are gone, too.
        adopted = nil
        if let lock { try lock.move(to: there.descriptor, switchOver) } else { try switchOver() }
        logger.error(
            "cache folder replaced by another one",
            metadata: ["cache": "\(folder.path)", "generations": "\(adopted?.manifests.count ?? 0)"])
    }

    private static func hasGenerations(_ folder: CacheFolder) throws(FileError) -> Bool {
        if try folder.entry(CacheLayout.manifest) != nil { return true }
        guard try folder.status(CacheLayout.generations) != nil else { return false }
        return try !folder.generationNumbers.isEmpty
    }

    /// Whether a document exists; a damaged one is removed, so that it is written again.
    private func isWhole(_ digest: Digest, isThorough: Bool) throws(FileError) -> Bool {
        let name = CacheLayout.document(digest)
        guard try folder.entry(name) != nil else { return false }
        guard isThorough else { return true }
        if try folder.readIfPresent(name).map(Digest.of) == digest { return true }
        try folder.discard(name)
        return false
    }

    private static let temporary = StagingPath.of("inspection")
}
