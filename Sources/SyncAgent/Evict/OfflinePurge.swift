// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc
import HTTPRules
import IconCache
import Logging
import SyncPlan
package import SystemPackage

/// Removes everything from a cache and a state folder that no agent holds.
///
/// A generation stays in which nothing is ready: generation numbers keep growing, and lists that cannot be read keep their
/// last good versions. Generations with leases stay too: the next agent evicts them, and a new database tells it to show
/// none of their images. It also says that the cache has private icons, if it had some and files could not be removed, or
/// readers keep images. As with an agent, nothing is removed before the generation without images is durable, so an
/// interrupted purge leaves a consistent cache, at worst the previous one, and can be repeated.
///
/// The caller asks first whether the lists are in doubt (``DiskStatus/purgeReview()``).
package enum OfflinePurge {
    package struct Result: Equatable, Sendable {
        /// The number of images removed.
        package var images = 0
        /// The generations that readers hold leases on.
        package var kept: [Int] = []
        /// The number of files that could not be removed; the reason for the first one.
        package var failures = 0
        package var reason: String?

        fileprivate mutating func record(_ error: FileError) {
            failures += 1
            if reason == nil { reason = "\(error)" }
        }
    }

    /// Purges both folders; skips one that does not exist.
    ///
    /// If there is no room for all lists, those in `readable` leave the manifest until the images are gone. They stay out of
    /// it if there is no room then, either: the next agent reads them again.
    ///
    /// - Throws: ``FolderError`` if an agent holds a folder, it is not syncagent's, or others can change it;
    ///   ``FileError`` if it cannot be read or written.
    package static func run(
        cache: FilePath, state: FilePath, readable: Set<ListName> = []
    ) async throws -> Result {
        var result = Result()
        let stateFolder = try exists(state) ? CacheFolder(state) : nil
        var locks: [FolderLock] = []
        defer { withExtendedLifetime(locks) {} }
        let folder = try exists(cache) ? CacheFolder(cache) : nil
        if let folder {
            guard try folder.isOurs else { throw FolderError.foreign(cache) }
            try folder.checkTrust()
            locks.append(try FolderLock(in: folder.descriptor, at: cache))
        }
        if let stateFolder {
            try FolderTrust(root: state).check(stateFolder.descriptor, onlyNames: [CacheLayout.lock] + StateStore.files)
            locks.append(try FolderLock(in: stateFolder.descriptor, at: state))
        }
        var values = RememberedValues()
        if stateFolder != nil { values = await known(in: state) }
        var keepsImages = false
        if let folder { keepsImages = try await empty(folder, readable, &result, &values) }
        if result.failures == 0, !keepsImages { values.privateOrigins = nil }
        if let stateFolder {
            for name in StateStore.files + [StateStore.files[0] + ".damaged"] {
                if let error = stateFolder.remove(name) { result.record(error) }
            }
            if values != RememberedValues() { await remember(values, in: state, &result) }
            if fsync(stateFolder.descriptor.rawValue) != 0 {
                result.record(FileError("fsync", state.string, Errno(rawValue: errno)))
            }
        }
        return result
    }

    private static func exists(_ path: FilePath) -> Bool { access(path.string, F_OK) == 0 }

    /// The values that outlive a purge: the private origins, which lists folder had the lists, and what upstreams may give.
    private static func known(in state: FilePath) async -> RememberedValues {
        var values = RememberedValues()
        guard let store = try? StateStore(folder: state, clock: AgentClock(), logger: silent) else { return values }
        let known = store.remembered.values
        (values.privateOrigins, values.folder) = (known.privateOrigins, known.folder)
        (values.hadList, values.awaitedLists) = (known.hadList, known.awaitedLists)
        try? await store.close()
        return values
    }

    /// Tells the next agent what it must know of the purged cache.
    private static func remember(_ values: RememberedValues, in state: FilePath, _ result: inout Result) async {
        var changes = MemoChanges()
        changes.values = values
        do {
            let store = try StateStore(folder: state, clock: AgentClock(), logger: silent)
            try await store.apply(changes)
            try await store.close()
        } catch {
            result.record(error as? FileError ?? FileError("write the database", state.string, .ioError))
        }
    }

    private static var silent: Logger { Logger(label: "syncagent") { _ in SwiftLogNoOpLogHandler() } }

    /// Empties the cache; the values get the newest purged generation if readers hold leases on it or older ones, and the
    /// mark of a private cache.
    ///
    /// - Returns: Whether these readers keep images.
    private static func empty(
        _ folder: CacheFolder, _ readable: Set<ListName>, _ result: inout Result,
        _ values: inout RememberedValues
    ) async throws -> Bool {
        let restored: RestoredState
        do {
            restored = try StartUpRecovery.run(folder, logger: silent)
        } catch let error as FileError {
            throw PurgeError(cache: folder.path, reason: "\(error)")
        }
        let thread = FileThread("purge")
        let evictor = Evictor(folder, thread: thread, logger: silent)
        var generations = restored.manifests.map(\.generation)
        var newest = restored.manifests.last
        let whole = withoutImages(restored)
        var publication = whole
        let isNeeded =
            restored.isDamaged || publication.isPrivate
            || restored.manifests.contains { $0.lists[Reconciler.pinList] != nil }
            || restored.documents.values.contains { !$0.apps.allSatisfy { $0.state == .pending } }
        if isNeeded {
            // Even if nothing is ready in the newest one: an earlier purge may have failed to flush it.
            do {
                newest = try await publish(publication, in: folder, thread: thread)
            } catch let error as PurgeError where error.isOutOfSpace && !readable.isEmpty {
                publication.documents.removeAll { readable.contains($0.list) }
                newest = try await publish(publication, in: folder, thread: thread)
            }
        } else {
            _ = generations.popLast()
        }
        var left: Set<Int> = []
        if !generations.isEmpty {
            let released = await evictor.release(generations.map { GenerationRelease(generation: $0) })
            result.kept = released.kept
            result.failures += released.failed.count
            result.reason = released.failure
            // A reader may hold a lease on a generation whose removal failed.
            left = released.failed.union(released.kept)
        }
        let documents = Set(
            restored.manifests.filter { left.contains($0.generation) }.flatMap { $0.lists.values.map(\.sha256) })
        var images: Set<String> = []
        var urls: Set<Digest> = []
        for document in documents {
            for app in restored.documents[document]?.apps ?? [] {
                guard case .ready = app.state else { continue }
                images.formUnion(app.images.lazy.map(\.path))
                urls.insert(.of(app.icon.text))
            }
        }
        let kept = documents.union(newest?.lists.values.map(\.sha256) ?? [])
        remove(in: folder, &result, keeping: kept, images, urls)
        if !documents.isEmpty { values.purged = restored.nextGeneration - 1 }
        if values.privateOrigins == nil, restored.manifests.hasPrivate {
            values.privateOrigins = [Credentials.unknownOrigin]
        }
        // Until now, files of private icons may have been left. If this fails, the cache stays private.
        let isPrivate = publication.isPrivate && !(result.failures == 0 && images.isEmpty)
        for var last in [whole, publication]
        where last.documents.count > publication.documents.count || isPrivate != publication.isPrivate {
            (last.generation, last.isPrivate) = (restored.nextGeneration + 1, isPrivate)
            guard (try? await publish(last, in: folder, thread: thread)) != nil else { continue }
            _ = await evictor.release([GenerationRelease(generation: restored.nextGeneration)])
            break
        }
        return !images.isEmpty
    }

    /// The generation without images: all lists but the pins stay, with icons that are pending.
    private static func withoutImages(_ restored: RestoredState) -> Publication {
        var publication = Publication(generation: restored.nextGeneration, published: AgentClock.wallTime)
        publication.isPrivate = restored.manifests.hasPrivate
        for (name, list) in restored.manifests.last?.lists ?? [:] where name != Reconciler.pinList {
            guard var document = restored.documents[list.sha256] else { continue }
            document.apps = document.apps.map { $0.withoutImage(.pending) }
            publication.documents.append(document)
        }
        return publication
    }

    /// Publishes the generation without images; readers then find nothing.
    ///
    /// - Throws: ``PurgeError`` if it may not be durable: after a power failure, readers could find an older one.
    private static func publish(
        _ publication: Publication, in folder: CacheFolder, thread: FileThread
    ) async throws -> Manifest {
        let reason: String
        var isOutOfSpace = false
        switch await Publisher(folder, staged: StagedImages(), thread: thread).publish(publication) {
        case .published(let manifest, _, nil): return manifest
        case .published(_, _, let doubt?): reason = doubt
        case .noRoom(let shortage, _, _): (reason, isOutOfSpace) = (shortage.reason, true)
        case .failed(let failure, let isFull): (reason, isOutOfSpace) = (failure, isFull)
        case .refused(let refusal): reason = refusal.reason
        }
        throw PurgeError(cache: folder.path, reason: reason, isOutOfSpace: isOutOfSpace)
    }

    /// Removes files whose names have the agent's form; leaves all others.
    private static func remove(
        in folder: CacheFolder, _ result: inout Result, keeping documents: Set<Digest>, _ images: Set<String>,
        _ urls: Set<Digest>
    ) {
        func names(_ path: String) -> [String] { ((try? folder.names(in: path)) ?? []).map(\.name) }
        /// Removes the files of a folder whose names are chosen; returns how many were removed.
        @discardableResult
        func remove(from path: String, where isChosen: (String) -> Bool) -> Int {
            let chosen = names(path).filter(isChosen)
            let errors = chosen.compactMap { folder.remove("\(path)/\($0)") }
            for error in errors { result.record(error) }
            return chosen.count - errors.count
        }
        func isUnused(url name: String) -> Bool { Digest(hex: name).map { !urls.contains($0) } ?? false }
        for part in CacheLayout.fanOut {
            let icons = "\(CacheLayout.icons)/\(part)"
            let removed = remove(from: icons) { name in
                Digest(hex: name.prefix { $0 != "." }) != nil && !images.contains("\(icons)/\(name)")
            }
            result.images += removed
            remove(from: "\(CacheLayout.byURL)/\(part)", where: isUnused)
        }
        for size in names(CacheLayout.bySize) where RenditionSize(size) != nil {
            for part in CacheLayout.fanOut { remove(from: "\(CacheLayout.bySize)/\(size)/\(part)", where: isUnused) }
        }
        for size in names(CacheLayout.theme) {
            remove(from: "\(CacheLayout.theme)/\(size)/apps") { $0.ends(withBytes: ".png") }
        }
        remove(from: CacheLayout.lists) { name in
            CacheLayout.documentDigest(fileName: name).map { !documents.contains($0) } ?? false
        }
        remove(from: CacheLayout.staging, where: StagingPath.isOwn)
    }

    /// The generation without images could not be published, or may not be durable; no image was removed.
    package struct PurgeError: Error, CustomStringConvertible {
        package var cache: FilePath
        package var reason: String
        fileprivate var isOutOfSpace = false
        package var description: String {
            "Cannot purge \(cache): \(reason). No image was removed." + (isOutOfSpace ? " Make room first." : "")
        }
    }
}
