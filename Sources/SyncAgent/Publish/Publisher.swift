// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import HTTPRules
package import SyncPlan
import SystemPackage

/// Publishes generations: files, names, the barrier, and last the manifest that readers open.
package actor Publisher {
    let folder: CacheFolder
    let held: HeldImages
    let barrier: Barrier
    private let space: SpaceGauge?
    private let thread: FileThread

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a publisher, which runs on `thread`; by default it need leave no space free.
    ///
    /// After each `batch` images, or 16 MiB, that were written ahead, names are made ahead.
    package init(
        _ folder: CacheFolder, held: HeldImages, space: SpaceGauge? = nil, thread: FileThread,
        metrics: AgentMetrics = AgentMetrics(), batch: Int = 1500
    ) {
        self.folder = folder
        self.held = held
        self.space = space
        self.thread = thread
        barrier = Barrier(folder, metrics: metrics)
        unnamed = ImageBatch(images: batch, bytes: 16 << 20)
    }

    /// Reaches the milestone once no publication or removal is running.
    nonisolated func probe(_ answer: Milestone) { thread.run(answer.reach) }

    /// The files that failed publications could not remove; they must be gone before the next one.
    var leftovers: [String] = []
    /// The `by-url/` names that failed publications could not restore; they must be restored before the next one.
    private var misled: [Publication.Link] = []

    /// The images written ahead whose URLs have no names yet.
    var unnamed: ImageBatch

    private var names: [ListName] = []

    /// Publishes a generation.
    ///
    /// If it fails before the manifest is replaced, all its files are removed again, and the staged images are lost:
    /// after a failed flush the contents of the disk are unknown, and the same file is never flushed twice.
    package func publish(_ publication: Publication) -> PublicationResult {
        var done = Progress()
        let texts = publication.documents.map(\.text)
        if let shortage = shortage(for: publication, texts) { return shortage }
        do throws(FileError) {
            if let error = folder.clearFailedFlush() { throw error }
            return try folder.keepingFoldersOpen { () throws(FileError) in
                try removeLeftovers()
                if let flaw = try flaw(of: publication) {
                    rollBack(publication, done)
                    return .failed(reason: flaw)
                }
                return try publish(publication, texts, &done)
            }
        } catch {
            rollBack(publication, done)
            // One of the folders was removed: recreate it for the next attempt.
            if error.errno == .noSuchFileOrDirectory { try? folder.makeTree() }
            if error.isOutOfSpace { held.close() }
            return .failed(reason: "\(error)", isOutOfSpace: error.isOutOfSpace)
        }
    }

    /// Why the documents cannot be published: they would name an image that is missing or damaged.
    private func flaw(of publication: Publication) throws(FileError) -> String? {
        for image in publication.checks {
            guard let entry = try folder.entry(image.path) else {
                return "\(folder.path.appending(image.path)) is missing, but a new list document names it"
            }
            guard entry.isOwn, entry.size == image.bytes else {
                return "\(folder.path.appending(image.path)) is damaged, but a new list document names it"
            }
        }
        return nil
    }

    /// Rolls a failed publication back, and removes what was staged for it.
    private func rollBack(_ publication: Publication, _ done: Progress) {
        // The plan invalidates everything that is not published yet.
        _ = folder.clearFailedFlush()
        let staged = (publication.moves + publication.discards).compactMap { dropStaged($0.name) }
        leftovers += done.placed + staged + [Self.temporary]
        // Free space first: on a full disk, names can be restored only then.
        leftovers.removeAll { folder.remove($0) == nil }
        let links = done.links + publication.links.filter { done.namedAhead.contains($0.url) }
        misled += links.filter { $0.before == nil } + links.filter { $0.before != nil }
        misled.removeAll { (try? restore($0)) != nil }
    }

    /// Checks before any change that there is space for the documents.
    private func shortage(for publication: Publication, _ texts: [[UInt8]]) -> PublicationResult? {
        guard !publication.ignoresRoom, let reserve = self.space?.reserve, let space = folder.space else { return nil }
        let room = space.roomForDocuments(above: reserve)
        let documents = Dictionary(zip(publication.documents.map(\.list), texts.map(\.count))) { a, _ in a }
        let shortage = space.shortage(forDocuments: documents.values.reduce(0, +), above: reserve)
        return shortage.map { .noRoom($0, room: room, documents: documents) }
    }

    /// The changes that a publication has made so far.
    private struct Progress {
        var placed: [String] = []
        var links: [Publication.Link] = []
        /// The URLs whose names were made ahead of it.
        var namedAhead: Set<IconURL> = []
    }

    private func publish(
        _ publication: Publication, _ texts: [[UInt8]], _ done: inout Progress
    ) throws(FileError) -> PublicationResult {
        // The file of a discarded image may be another one than that of its name.
        let named = Set(publication.moves.compactMap { held.removeName(of: $0.name) })
        done.namedAhead = named.union(publication.discards.compactMap { held.removeName(of: $0.name) })
        done.namedAhead.formUnion(held.forgetNames(of: publication.links.lazy.map(\.url)))
        for staged in publication.moves { done.placed.append(try place(staged)) }
        unnamed.removeAll { !held.isFile($0) }
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        var written = WrittenBytes()
        let moved = Set(publication.moves.map(\.image.sha256))
        for staged in publication.discards {
            let isReplaced = try moved.contains(staged.image.sha256) ? false : replaceDamaged(staged)
            if isReplaced {
                done.placed.append(staged.image.path)
                written.replaced.insert(staged.image.sha256)
            }
            // Also one that replaced an image: a rename leaves a link to the same file where it is.
            if held.remove(staged.name) == nil { folder.remove(StagingPath.of(staged.name)) }
        }
        for (document, text) in zip(publication.documents, texts) {
            let summary = Manifest.List(document, sha256: .of(text))
            // A document of an older generation exists already, and must survive a failure of this publication.
            if try folder.entry(summary.document) == nil {
                try put(text, at: summary.document, placed: &done.placed)
                written.documents[document.list] = text.count
            }
            manifest.lists[document.list] = summary
        }
        for (name, list) in manifest.lists where list.isPrivate != publication.isPrivate {
            manifest.lists[name]?.isPrivate = publication.isPrivate
        }
        let generation = CacheLayout.generation(manifest.generation)
        let text = manifest.text(inOrder: &names)
        // To readers, a generation without a manifest means damage: the first one gets its number once it is in force.
        let isFirst = try folder.entry(CacheLayout.manifest) == nil
        try put(text, at: isFirst ? Self.first : generation, placed: &done.placed)
        written.manifest = text.count

        try barrier.pass(files: done.placed)

        for (name, link) in CacheLayout.inOrder(publication.links, \.url) {
            try set(link, at: name, isThere: named.contains(link.url))
            done.links.append(link)
        }
        if isFirst {
            try folder.rename(Self.first, to: CacheLayout.manifest)
        } else {
            try folder.replaceLink(generation, at: CacheLayout.manifest, temporary: Self.temporary)
        }
        // Readers see the new manifest now: nothing that it names may be rolled back.
        do throws(FileError) {
            if isFirst { try folder.link(CacheLayout.manifest, to: generation) }
            let names = [CacheLayout.manifest, generation] + publication.links.map { CacheLayout.byURL($0.url) }
            try barrier.pass(names: names)
            return .published(manifest, written: written)
        } catch {
            _ = folder.clearFailedFlush()
            return .published(manifest, written: written, doubt: "\(error)")
        }
    }

    /// Moves an image to its name in `icons/`, and replaces what is there.
    ///
    /// - Returns: The name.
    @discardableResult
    private func place(_ staged: StagedImage) throws(FileError) -> String {
        let name = staged.image.path
        switch held.remove(staged.name) {
        case nil: try folder.rename(StagingPath.of(staged.name), to: name)
        case .memory(let bytes): try replace(name, by: bytes)
        case .file:
            guard try folder.isPlausible(staged.image, at: name) else {
                folder.remove(name)
                throw folder.failure("find", name, .noSuchFileOrDirectory)
            }
        }
        held.name(name)
        return name
    }

    /// Replaces the image's file with the download, if it is missing or damaged.
    ///
    /// - Returns: Whether it was.
    private func replaceDamaged(_ staged: StagedImage) throws(FileError) -> Bool {
        switch Verification.flaw(of: staged.image, at: staged.image.path, in: folder) {
        case nil: return false
        // A file that may be intact must not be removed if the publication fails.
        case .unreadable(let error): throw error
        case .missing, .wrong:
            try place(staged)
            return true
        }
    }

    /// Sets a `by-url/` name; one made ahead of the publication (`isThere`) stays if it still exists.
    private func set(_ link: Publication.Link, at name: String, isThere: Bool) throws(FileError) {
        do throws(FileError) {
            try folder.link(link.path, to: name)
        } catch {
            if isThere, error.errno == .fileExists { return }
            try folder.replaceLink(link.path, at: name, temporary: Self.temporary)
        }
    }

    /// Restores the target that a `by-url/` name had before the publication.
    private func restore(_ link: Publication.Link) throws(FileError) {
        let name = CacheLayout.byURL(link.url)
        do throws(FileError) {
            if let before = link.before {
                return try folder.replaceLink(before, at: name, temporary: Self.temporary)
            }
        } catch {
            // That image was removed: the name leads nowhere.
            guard error.errno == .noSuchFileOrDirectory else { throw error }
        }
        if let error = folder.remove(name) { throw error }
    }

    /// The images among these, reported as damaged, that still are while no publication is running.
    package func damaged(among images: Set<AppListDocument.Image>) -> Set<AppListDocument.Image> {
        images.filter { image in
            switch Verification.flaw(of: image, at: image.path, in: folder) {
            case .missing, .wrong: true
            case nil, .unreadable: false
            }
        }
    }

    /// Forgets all files that it would remove: they are not in the current cache folder.
    func forgetFiles() {
        held.forgetFiles()
        _ = unnamed.drain()
        (leftovers, misled) = ([], [])
    }

    private func removeLeftovers() throws(FileError) {
        for name in leftovers + [Self.temporary] {
            if let error = folder.remove(name) { throw error }
        }
        leftovers = []
        for link in misled { try restore(link) }
        misled = []
    }

    private func put(_ text: [UInt8], at name: String, placed: inout [String]) throws(FileError) {
        try replace(name, by: text)
        placed.append(name)
    }

    /// Writes a file, and replaces what has its name.
    private func replace(_ name: String, by bytes: [UInt8]) throws(FileError) {
        try folder.write(bytes, to: Self.temporary, mode: CacheFolder.imageMode)
        do throws(FileError) {
            try folder.rename(Self.temporary, to: name)
        } catch {
            folder.remove(Self.temporary)
            throw error
        }
    }

    /// One name suffices: publications do not overlap.
    private static let temporary = StagingPath.of("publication")
    /// Becomes the manifest if there is none.
    private static let first = StagingPath.of("manifest")
}
