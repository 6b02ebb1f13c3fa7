// SPDX-License-Identifier: Apache-2.0
import IconCache
import Logging
import SyncPlan
import SystemPackage

/// Puts a cache folder right after whatever happened to it, and tells what is in it.
///
/// Generations on disk are the truth. Whether what they name is there, and nothing besides, is for the first look of the
/// ``CacheInspector``, before which nothing is published: the agent need not wait for it. What cannot be read, or is of a
/// later version, is no damage: then nothing is changed, and the start fails.
struct StartUpRecovery {
    private let folder: CacheFolder
    private let logger: Logger
    private var state = RestoredState()
    /// Whether there is no sign that the current generation passed its barrier: then its images are read and compared.
    private var isDoubtful = false
    /// The files that were given a name.
    private var named: [String] = []

    /// Prepares the folder and reads it.
    ///
    /// - Parameters:
    ///   - folder: The cache folder.
    ///   - logger: Where it is said what was found.
    /// - Returns: What is there.
    /// - Throws: ``FileError`` if the folder cannot be read or written, and ``IconCacheError/unknownFormat(path:format:)``.
    static func run(_ folder: CacheFolder, logger: Logger) throws -> RestoredState {
        var recovery = StartUpRecovery(folder: folder, logger: logger)
        try recovery.makeFolders()
        try recovery.readGenerations()
        if recovery.isDoubtful { try recovery.readImages() }
        try recovery.putInForce()
        // What was put right, and what was found in force: an agent that was killed may not have come to that. Where nothing
        // is in force, the barrier of the first publication does it too.
        let barrier = Barrier(folder)
        if !recovery.state.manifests.isEmpty || !barrier.flushesWhole { try barrier.pass(files: recovery.named) }
        return recovery.state
    }

    private init(folder: CacheFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    private mutating func makeFolders() throws(FileError) {
        try folder.makeTree()
        state.partials = try Partials.clearStaging(of: folder)
        if try folder.makeTag(temporary: Self.temporary) { named.append(CacheLayout.tag) }
    }

    /// Removes what must not be there when a later start finds it.
    private func discard(_ name: String) throws(FileError) {
        if let error = folder.remove(name) { throw error }
    }

    private static let temporary = StagingPath.of("recovery")

    // MARK: Generations

    private mutating func readGenerations() throws {
        let reading = try GenerationReading(folder)
        for flaw in reading.flaws {
            logger.warning("file in the cache unusable", metadata: ["reason": "\(flaw)"])
        }
        (state.manifests, state.documents) = (reading.state.manifests, reading.state.documents)
        (state.isDamaged, state.nextGeneration) = (reading.state.isDamaged, reading.state.nextGeneration)
        isDoubtful = reading.published == nil
        for name in reading.useless { try discard(name) }
        if let published = reading.published, reading.lacksNumber {
            let name = CacheLayout.generation(published.generation)
            try folder.link(CacheLayout.manifest, to: name)
            named.append(name)
        }
        for entry in try folder.names(in: CacheLayout.lists) {
            let digest = entry.name.hasSuffix(".json") ? Digest(hex: entry.name.dropLast(5)) : nil
            if digest.flatMap({ state.documents[$0] }) == nil { try discard("\(CacheLayout.lists)/\(entry.name)") }
        }
    }

    /// Makes the newest good generation the one that readers find.
    ///
    /// One that never was, and that names what is not there, does not become it: the next publication does.
    private mutating func putInForce() throws(FileError) {
        guard let current = state.manifests.last, !isDoubtful || isWhole(current) else {
            return try discard(CacheLayout.manifest)
        }
        let name = CacheLayout.generation(current.generation)
        // A copied folder may have two files where there was one with two names, and a lease is on one file.
        if try folder.isInForce(current.generation) { return }
        if isDoubtful {
            logger.warning(
                "manifest missing or damaged: using the newest good generation",
                metadata: ["generation": "\(current.generation)"])
            let images = images(of: current).map(\.path)
            try Barrier(folder).pass(files: [name] + current.lists.values.map(\.document) + images)
        }
        try folder.replaceLink(name, at: CacheLayout.manifest, temporary: Self.temporary)
        named.append(CacheLayout.manifest)
    }

    private func isWhole(_ manifest: Manifest) -> Bool {
        !state.isDamaged && state.missing.isDisjoint(with: images(of: manifest).map(\.sha256))
    }

    // MARK: Images

    private func images(of manifest: Manifest) -> Set<AppListDocument.Image> {
        Self.images(of: manifest.lists.values.compactMap { state.documents[$0.sha256] })
    }

    private static func images(of documents: some Sequence<AppListDocument>) -> Set<AppListDocument.Image> {
        var images: Set<AppListDocument.Image> = []
        for document in documents {
            for case .ready(let image) in document.apps.lazy.map(\.state) { images.insert(image) }
        }
        return images
    }

    /// Reads what the generations name, and notes what is not there, or not as it should be.
    private mutating func readImages() throws(FileError) {
        for image in Self.images(of: state.documents.values) {
            if try folder.isPlausible(image, at: image.path), try Digest.of(folder.read(image.path)) == image.sha256 {
                continue
            }
            logger.warning("image missing or damaged", metadata: ["path": "\(image.path)"])
            state.missing.insert(image.sha256)
        }
    }
}
