// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncPlan
import SystemPackage

/// What the generations in a cache folder say, as far as they are whole; reading them changes nothing.
struct GenerationReading {
    /// Why a file is of no use, for the log.
    enum Flaw: CustomStringConvertible {
        case damagedGeneration(file: String, reason: String?)
        case damagedDocument(file: String)

        var description: String {
            switch self {
            case .damagedGeneration(let file, nil): "\(file) has the number of another generation"
            case .damagedGeneration(let file, let reason?): "\(file) is damaged: \(reason)"
            case .damagedDocument(let file): "\(file) is damaged"
            }
        }
    }

    /// The good generations with their documents, and the number of the next one.
    private(set) var state = RestoredState()
    /// What `manifest.json` says; `nil` if it is missing or damaged.
    private(set) var published: Manifest?
    /// Whether what `manifest.json` says is in no file in `generations/`.
    private(set) var lacksNumber = false
    /// Files in `generations/` that no reader must find at a later start.
    private(set) var useless: [String] = []
    private(set) var flaws: [Flaw] = []
    private let folder: CacheFolder

    /// - Throws: ``FileError`` if the folder cannot be read, and ``IconCacheError/unknownFormat(path:format:)``.
    init(_ folder: CacheFolder) throws {
        self.folder = folder
        let numbers = try folder.generationNumbers.sorted()
        published = try readManifest(CacheLayout.manifest)
        state.nextGeneration = max(numbers.last ?? 0, published?.generation ?? 0) + 1
        for number in numbers {
            let name = CacheLayout.generation(number)
            // A generation after the published one never became true.
            guard number <= published?.generation ?? .max, let manifest = try readManifest(name) else {
                useless.append(name)
                continue
            }
            guard manifest.generation == number else {
                flaws.append(.damagedGeneration(file: name, reason: nil))
                useless.append(name)
                continue
            }
            try restore(manifest)
        }
        if let published, state.manifests.last?.generation != published.generation {
            lacksNumber = true
            try restore(published)
        }
    }

    /// Takes a generation in; a list whose document is damaged is as it was in the generation before.
    private mutating func restore(_ manifest: Manifest) throws {
        var whole = manifest
        for (name, list) in manifest.lists where try !readDocument(list) {
            whole.lists[name] = state.manifests.last?.lists[name]
        }
        state.isDamaged = whole != manifest
        state.manifests.append(whole)
    }

    /// - Returns: `nil` if there is no such file, or it is damaged.
    private mutating func readManifest(_ name: String) throws -> Manifest? {
        guard let bytes = try read(name) else { return nil }
        do {
            return try Manifest(json: bytes)
        } catch .damaged(let reason) {
            flaws.append(.damagedGeneration(file: name, reason: reason))
            return nil
        } catch {
            throw IconCacheError(error, in: folder.path.appending(name).string)
        }
    }

    /// - Returns: Whether the document is whole.
    private mutating func readDocument(_ list: Manifest.List) throws -> Bool {
        if state.documents[list.sha256] != nil { return true }
        if let bytes = try read(list.document), Digest.of(bytes) == list.sha256 {
            do {
                state.documents[list.sha256] = try AppListDocument(json: bytes)
                return true
            } catch .damaged {
                // As if its digest were another one.
            } catch {
                throw IconCacheError(error, in: folder.path.appending(list.document).string)
            }
        }
        flaws.append(.damagedDocument(file: list.document))
        return false
    }

    /// - Returns: `nil` if there is no such file.
    private func read(_ name: String) throws(FileError) -> [UInt8]? {
        do {
            return try folder.read(name)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }
}
