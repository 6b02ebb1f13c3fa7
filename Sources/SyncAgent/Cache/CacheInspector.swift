// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
package import Logging
package import SyncPlan
import SystemPackage

/// Looks at whether the cache folder has what it should, and puts right what needs no download.
///
/// Cache cleaners and people remove files of a running agent. It shares its thread with the ``Publisher``: nothing is
/// published or removed meanwhile.
package actor CacheInspector {
    private let publisher: Publisher
    private let folder: CacheFolder
    private let lock: FolderLock?
    private let barrier: Barrier
    private let logger: Logger
    /// The folders as they were when everything was in place.
    private var shape: CacheFolder.Shape
    /// What was in another folder that was taken up, until it is told.
    private var adopted: AdoptedCache?
    /// The highest number that a generation had in a folder that was taken up.
    private var latestGeneration = 0
    /// The newest generation's file, as it was at the first look at it.
    private var newest: (generation: Int, file: FileFingerprint)?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { publisher.unownedExecutor }

    /// - Parameters:
    ///   - publisher: What publishes to the cache folder, which is in good order.
    ///   - lock: The agent's lock on the folder; `nil` if it has none.
    ///   - logger: Where it is said what was found.
    package init(_ publisher: Publisher, lock: FolderLock?, logger: Logger) {
        self.publisher = publisher
        folder = publisher.folder
        self.lock = lock
        self.logger = logger
        barrier = Barrier(folder)
        shape = folder.shape
    }

    /// Looks at the folder: quickly, or completely where all images are expected.
    package func inspect(_ expected: CacheExpectation) -> CacheInspection {
        guard let images = expected.images else {
            var found = CacheInspection()
            found.isSuspicious = !isInPlace(expected)
            return found
        }
        do {
            let found = try restore(expected, images)
            shape = folder.shape
            adopted = nil
            if let summary = found.summary {
                logger.error(
                    "cache files missing or replaced: restoring them",
                    metadata: ["lost": "\(summary)"])
            }
            return found
        } catch {
            logger.error("cannot repair the cache folder", metadata: ["reason": "\(error)"])
            var found = CacheInspection()
            found.trouble = "\(error)"
            return found
        }
    }

    /// Whether what costs little to look at is as it should be.
    private func isInPlace(_ expected: CacheExpectation) -> Bool {
        do {
            try lock?.renewFile(in: folder.descriptor)
            guard folder.isAtItsPath, folder.shape == shape, try isInForce(expected.generation) else { return false }
            return try folder.keepingFoldersOpen { () throws(FileError) in
                for document in expected.documents.values {
                    if try folder.entry(CacheLayout.document(document)) == nil { return false }
                }
                for naming in expected.sample {
                    for name in [naming.image.path] + naming.names {
                        if try !folder.isPlausible(naming.image, at: name) { return false }
                    }
                }
                return true
            }
        } catch {
            // The complete look tells why.
            return false
        }
    }

    private func isInForce(_ generation: Int?) throws(FileError) -> Bool {
        guard let generation else { return true }
        guard try folder.isInForce(generation), let file = try folder.status(CacheLayout.manifest) else { return false }
        let found = FileFingerprint(file)
        if newest?.generation != generation { newest = (generation, found) }
        // Its status changes with each name that it gets.
        return newest.map { $0.file.size == found.size && $0.file.modified == found.modified } ?? false
    }

    private func restore(
        _ expected: CacheExpectation, _ images: [CacheExpectation.Naming]
    ) throws -> CacheInspection {
        if !folder.isAtItsPath { try adopt() }
        // What is in another folder than before may be anything.
        let isThorough = shape != folder.shape
        try folder.makeTree()
        _ = try folder.makeTag(temporary: Self.temporary)
        try lock?.renewFile(in: folder.descriptor)
        var found = CacheInspection()
        found.adopted = adopted
        found.lacksManifest = try !isInForce(adopted?.manifests.last?.generation ?? expected.generation)
        found.latestGeneration = max(latestGeneration, try folder.generationNumbers.max() ?? 0)
        for (list, digest) in expected.documents where try !isWhole(digest, isThorough: isThorough) {
            found.lostDocuments.insert(list)
        }
        // What another folder has is not known yet.
        var search = FolderSearch(
            folder, removesOthers: expected.removesOthers && adopted == nil, doubtful: expected.doubtful)
        var restored: [String] = []
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
        found.restoredNames = restored.count
        if !restored.isEmpty { try barrier.pass(files: restored) }
        if found.lacksManifest, found.lostDocuments.isEmpty, found.lostImages.isEmpty, try putInForce(expected) {
            found.lacksManifest = false
            found.restoredNames += 1
        }
        return found
    }

    /// Has readers find the generation again that is in force, of which everything is there: that takes no room.
    ///
    /// - Returns: `false` if its file is not what it was.
    private func putInForce(_ expected: CacheExpectation) throws -> Bool {
        guard let generation = expected.generation else { return false }
        let name = CacheLayout.generation(generation)
        guard try folder.entry(name) != nil,
            let manifest = try? Manifest(json: folder.read(name)), manifest.generation == generation,
            manifest.lists.mapValues(\.sha256) == expected.documents
        else { return false }
        try barrier.pass(files: [name])
        try folder.replaceLink(name, at: CacheLayout.manifest, temporary: Self.temporary)
        newest = nil
        try barrier.pass(names: [CacheLayout.manifest])
        return true
    }

    /// Takes what is at the path now for the cache folder: it is made if there is nothing.
    ///
    /// Generations that are in it keep what they name, as after a start.
    private func adopt() throws {
        let open: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
        // The mask of the process takes away what `cache.mode` does not grant.
        try AgentFolders.make(folder.path, mode: open)
        let there = try CacheFolder(folder.path)
        // Perhaps nobody could look a moment ago.
        if folder.isAtItsPath { return }
        guard try there.isOurs else { throw FolderError.foreign(folder.path) }
        try there.checkTrust()
        func take() throws {
            if try Self.hasGenerations(there) {
                let restored = try StartUpRecovery.run(there, logger: logger)
                latestGeneration = max(latestGeneration, restored.nextGeneration - 1)
                adopted = AdoptedCache(restored)
            }
            try folder.become(there)
            // It may have files of the same names, which its generations need.
            publisher.assumeIsolated { $0.forgetFiles() }
        }
        // In a folder without generations those that were taken up before are gone too.
        adopted = nil
        if let lock { try lock.move(to: there.descriptor, take) } else { try take() }
        logger.error(
            "cache folder replaced by another one",
            metadata: ["cache": "\(folder.path)", "generations": "\(adopted?.manifests.count ?? 0)"])
    }

    private static func hasGenerations(_ folder: CacheFolder) throws(FileError) -> Bool {
        if try folder.entry(CacheLayout.manifest) != nil { return true }
        guard try folder.status(CacheLayout.generations) != nil else { return false }
        return try !folder.generationNumbers.isEmpty
    }

    /// Whether a document is there; one that is damaged is removed, so that it is written again.
    private func isWhole(_ digest: Digest, isThorough: Bool) throws(FileError) -> Bool {
        let name = CacheLayout.document(digest)
        guard try folder.entry(name) != nil else { return false }
        guard isThorough else { return true }
        if try Digest.of(folder.read(name)) == digest { return true }
        if let error = folder.remove(name) { throw error }
        return false
    }

    private static let temporary = StagingPath.of("inspection")
}
