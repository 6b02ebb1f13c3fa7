// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
package import Logging
package import SyncPlan
import SystemPackage

/// Looks at whether the cache folder has what it should, and puts right what needs no download.
///
/// Cache cleaners and people remove files of a running agent. It shares its thread with the ``Publisher``: nothing is
/// published or removed meanwhile.
package actor CacheInspector {
    private let folder: CacheFolder
    private let lock: FolderLock?
    private let barrier: Barrier
    private let thread: FileThread
    private let logger: Logger
    /// The folders as they were when everything was in place.
    private var shape: CacheFolder.Shape

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - folder: The cache folder, in good order.
    ///   - lock: The agent's lock on it; `nil` if it has none.
    ///   - thread: The thread of the publisher.
    ///   - logger: Where it is said what was found.
    package init(_ folder: CacheFolder, lock: FolderLock?, thread: FileThread, logger: Logger) {
        self.folder = folder
        self.lock = lock
        self.thread = thread
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
            if let summary = found.summary {
                logger.error(
                    "files of the cache were removed or replaced: they are published or fetched again",
                    metadata: ["lost": "\(summary)"])
            }
            return found
        } catch {
            logger.error("the cache folder cannot be put right", metadata: ["reason": "\(error)"])
            var found = CacheInspection()
            found.trouble = "\(error)"
            return found
        }
    }

    /// Whether what costs little to look at is as it should be.
    private func isInPlace(_ expected: CacheExpectation) -> Bool {
        do { try lock?.renewFile(in: folder.descriptor) } catch { return false }
        guard folder.isAtItsPath, folder.shape == shape, isInForce(expected.generation) else { return false }
        return expected.documents.values.allSatisfy { folder.entry(CacheLayout.document($0)) != nil }
    }

    private func isInForce(_ generation: Int?) -> Bool {
        guard let generation else { return true }
        guard let inode = folder.entry(CacheLayout.manifest)?.inode else { return false }
        return inode == folder.entry(CacheLayout.generation(generation))?.inode
    }

    private func restore(
        _ expected: CacheExpectation, _ images: [AppListDocument.Image: Set<IconURL>]
    ) throws -> CacheInspection {
        if !folder.isAtItsPath { try adopt() }
        // What is in another folder than before may be anything.
        let isThorough = shape != folder.shape
        try folder.makeTree()
        _ = try folder.makeTag(temporary: Self.temporary)
        try lock?.renewFile(in: folder.descriptor)
        var found = CacheInspection()
        found.lacksManifest = !isInForce(expected.generation)
        found.latestGeneration = try folder.generationNumbers.max() ?? 0
        for (list, digest) in expected.documents where !isWhole(digest, isThorough: isThorough) {
            found.lostDocuments.insert(list)
        }
        var restored: [String] = []
        try folder.keepingFoldersOpen { () throws(FileError) in
            for (image, urls) in images {
                let names = urls.map { CacheLayout.byURL($0) }
                guard try isThere(image, names, isThorough: isThorough, &restored) else {
                    found.lostImages.insert(image.sha256)
                    continue
                }
                for name in names where leadsElsewhere(name, image) {
                    try folder.replaceLink(image.path, at: name, temporary: Self.temporary)
                    restored.append(name)
                }
            }
        }
        found.restoredNames = restored.count
        if !restored.isEmpty { try barrier.pass(files: restored) }
        return found
    }

    /// Takes what is at the path now for the cache folder: it is made if there is nothing.
    private func adopt() throws {
        let open: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
        // The mask of the process takes away what `cache.mode` does not grant.
        try AgentFolders.make(folder.path, mode: open)
        let there = try CacheFolder(folder.path)
        guard try there.isOurs else { throw Agent.ForeignFolder(path: folder.path) }
        try there.checkTrust()
        try lock?.move(to: there.descriptor)
        try folder.become(there)
        logger.error("another folder is at the path of the cache", metadata: ["cache": "\(folder.path)"])
    }

    /// Whether a document is there; one that is damaged is removed, so that it is written again.
    private func isWhole(_ digest: Digest, isThorough: Bool) -> Bool {
        let name = CacheLayout.document(digest)
        guard folder.entry(name) != nil else { return false }
        guard isThorough else { return true }
        if let bytes = try? folder.read(name), Digest.of(bytes) == digest { return true }
        folder.remove(name)
        return false
    }

    /// Whether an image is there, or was put back from one of its other names.
    private func isThere(
        _ image: AppListDocument.Image, _ names: [String], isThorough: Bool, _ restored: inout [String]
    ) throws(FileError) -> Bool {
        if let entry = folder.entry(image.path), entry.isOwn, entry.size == image.bytes,
            !isThorough || Verification.flaw(of: image, at: image.path, in: folder) == nil
        {
            return true
        }
        guard let name = names.first(where: { Verification.flaw(of: image, at: $0, in: folder) == nil }) else {
            return false
        }
        try folder.replaceLink(name, at: image.path, temporary: Self.temporary)
        restored.append(image.path)
        return true
    }

    /// Whether a name does not lead to its image.
    private func leadsElsewhere(_ name: String, _ image: AppListDocument.Image) -> Bool {
        guard let entry = folder.entry(name) else { return true }
        // Where an image has all the links that its file system allows, names lead to copies.
        return entry.inode != folder.entry(image.path)?.inode
            && Verification.flaw(of: image, at: name, in: folder) != nil
    }

    private static let temporary = StagingPath.of("inspection")
}
