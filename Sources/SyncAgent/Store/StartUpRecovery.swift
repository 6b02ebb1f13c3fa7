// SPDX-License-Identifier: Apache-2.0
import IconCache
import Logging
import SyncPlan
import SystemPackage

/// Puts a cache folder right after whatever happened to it, and tells what is in it.
///
/// Generations on disk are the truth. What none of them names is of unknown content after a crash, and is removed; what
/// one of them names and is not there is reported as missing, to be fetched again.
struct StartUpRecovery {
    private let folder: CacheFolder
    private let logger: Logger
    private var state = RestoredState()

    /// Prepares the folder and reads it.
    static func run(_ folder: CacheFolder, logger: Logger) throws(FileError) -> RestoredState {
        var recovery = StartUpRecovery(folder: folder, logger: logger)
        try recovery.makeFolders()
        try recovery.readGenerations()
        let images = try recovery.checkImages()
        try recovery.checkNames(images)
        return recovery.state
    }

    private init(folder: CacheFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    private func makeFolders() throws(FileError) {
        let open: FilePermissions = [.ownerReadWriteExecute, .groupRead, .groupExecute, .otherRead, .otherExecute]
        for name in [CacheLayout.generations, CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL] {
            try folder.makeFolder(name, mode: open)
        }
        for name in CacheLayout.fanOut {
            try folder.makeFolder("\(CacheLayout.icons)/\(name)", mode: open)
            try folder.makeFolder("\(CacheLayout.byURL)/\(name)", mode: open)
        }
        try folder.makeFolder(CacheLayout.staging, mode: [.ownerReadWriteExecute])
        for entry in try folder.names(in: CacheLayout.staging) { folder.remove(StagingPath.of(entry.name)) }
        if folder.entry(CacheLayout.tag) == nil {
            let text = """
                Signature: 8a477f597d28d172789f06886806bc55
                # This folder is a cache of syncagent: everything in it can be downloaded again.
                # See https://bford.info/cachedir/

                """
            try folder.write(text.utf8, to: CacheLayout.tag, mode: CacheFolder.imageMode)
        }
    }

    // MARK: Generations

    private mutating func readGenerations() throws(FileError) {
        let numbers = try folder.names(in: CacheLayout.generations)
            .compactMap { CacheLayout.generationNumber(fileName: $0.name) }.sorted()
        let published = readManifest(CacheLayout.manifest)
        state.nextGeneration = max(numbers.last ?? 0, published?.generation ?? 0) + 1
        for number in numbers {
            let name = CacheLayout.generation(number)
            // A generation after the published one never became true.
            guard number <= published?.generation ?? .max, let manifest = readManifest(name),
                readDocuments(of: manifest)
            else {
                folder.remove(name)
                continue
            }
            state.manifests.append(manifest)
        }
        if let published, state.manifests.last?.generation != published.generation, readDocuments(of: published) {
            try folder.link(CacheLayout.manifest, to: CacheLayout.generation(published.generation))
            state.manifests.append(published)
        }
        guard let current = state.manifests.last else {
            folder.remove(CacheLayout.manifest)
            return
        }
        if current != published {
            logger.warning(
                "the manifest was damaged: an older generation is in force again",
                metadata: ["generation": "\(current.generation)"])
        }
        // A copied folder may have two files where there was one with two names, and a lease is on one file.
        if folder.entry(CacheLayout.manifest)?.inode != folder.entry(CacheLayout.generation(current.generation))?.inode
        {
            try folder.replaceLink(
                CacheLayout.generation(current.generation), at: CacheLayout.manifest,
                temporary: StagingPath.of("recovery"))
        }
        for entry in try folder.names(in: CacheLayout.lists) {
            let digest = entry.name.hasSuffix(".json") ? Digest(hex: entry.name.dropLast(5)) : nil
            if digest.flatMap({ state.documents[$0] }) == nil { folder.remove("\(CacheLayout.lists)/\(entry.name)") }
        }
    }

    private func readManifest(_ name: String) -> Manifest? {
        guard let bytes = read(name) else { return nil }
        do {
            return try Manifest(json: bytes, path: name)
        } catch {
            logger.warning("a generation is damaged", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private mutating func readDocuments(of manifest: Manifest) -> Bool {
        for list in manifest.lists.values where state.documents[list.sha256] == nil {
            guard let bytes = read(list.document), Digest.of(bytes) == list.sha256,
                let document = try? AppListDocument(json: bytes, path: list.document)
            else {
                logger.warning("a list document is damaged", metadata: ["document": "\(list.document)"])
                return false
            }
            state.documents[list.sha256] = document
        }
        return true
    }

    private func read(_ name: String) -> [UInt8]? {
        guard let file = try? folder.open(name) else { return nil }
        defer { try? file.close() }
        return try? FileBytes.read(file)
    }

    // MARK: Images

    /// Removes images that no generation names, and notes those that are missing.
    ///
    /// - Returns: The inode number of each image, by path.
    private mutating func checkImages() throws(FileError) -> [String: UInt64] {
        var named: [String: AppListDocument.Image] = [:]
        for document in state.documents.values {
            for case .ready(let image) in document.apps.lazy.map(\.state) { named[image.path] = image }
        }
        var inodes: [String: UInt64] = [:]
        for fan in CacheLayout.fanOut {
            for entry in try folder.names(in: "\(CacheLayout.icons)/\(fan)") {
                let path = "\(CacheLayout.icons)/\(fan)/\(entry.name)"
                if let image = named[path], folder.entry(path)?.size == Int64(image.bytes) {
                    inodes[path] = entry.inode
                } else {
                    folder.remove(path)
                }
            }
        }
        for (path, image) in named where inodes[path] == nil {
            logger.warning("an image is missing", metadata: ["path": "\(path)"])
            state.missing.insert(image.sha256)
        }
        return inodes
    }

    /// Removes `by-url/` names of nothing, and puts those back that are missing.
    private func checkNames(_ images: [String: UInt64]) throws(FileError) {
        var wanted: [String: String] = [:]
        for manifest in state.manifests {
            for document in manifest.lists.values.compactMap({ state.documents[$0.sha256] }) {
                for app in document.apps {
                    guard case .ready(let image) = app.state, images[image.path] != nil else { continue }
                    wanted[CacheLayout.byURL(app.icon)] = image.path
                }
            }
        }
        for fan in CacheLayout.fanOut {
            for entry in try folder.names(in: "\(CacheLayout.byURL)/\(fan)") {
                let name = "\(CacheLayout.byURL)/\(fan)/\(entry.name)"
                guard let image = wanted[name] else {
                    folder.remove(name)
                    continue
                }
                if images[image] == entry.inode { wanted[name] = nil }
            }
        }
        for (name, image) in wanted {
            try folder.replaceLink(image, at: name, temporary: StagingPath.of("recovery"))
        }
    }
}
