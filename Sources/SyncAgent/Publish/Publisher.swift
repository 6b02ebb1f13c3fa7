// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc
import HTTPRules
package import SyncPlan
import SystemPackage

/// Publishes generations: files, names, the barrier, and last the manifest that readers open.
package actor Publisher {
    let folder: CacheFolder
    let staged: StagedImages
    let barrier: Barrier
    private let space: SpaceGauge?
    private let thread: FileThread
    /// The agent's lock on the folder; `nil` if the caller keeps it.
    private let lock: FolderLock?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a publisher, which runs on `thread`; by default it need leave no space free.
    package init(
        _ folder: CacheFolder, lock: FolderLock? = nil, staged: StagedImages, space: SpaceGauge? = nil,
        thread: FileThread, metrics: AgentMetrics = AgentMetrics()
    ) {
        self.folder = folder
        self.lock = lock
        self.staged = staged
        self.space = space
        self.thread = thread
        barrier = Barrier(folder: folder, metrics: metrics)
    }

    /// Reaches the milestone once no publication or removal is running.
    nonisolated func probe(_ answer: Milestone) { thread.run(answer.reach) }

    /// Why nothing in the folder may be changed; `nil` if it may.
    var loss: FolderError? { lock?.loss(in: folder.descriptor) }

    private var names: [ListName] = []
    /// What the folder has refused of the publication under way.
    private var refusal = PublicationResult.Refusal()
    /// The URLs of failed publications whose names could not be removed, and that no document shows.
    private var misnamed: Set<IconURL> = []
    /// The images of the publication under way that replaced damaged files.
    private var replaced: Set<String> = []
    /// The images that waited while the folder refused something: their files are read again.
    var kept: Set<String> = []

    /// Publishes a generation.
    ///
    /// If it fails before the manifest is replaced, it is undone. The staged images are lost if there is no space, and after
    /// a failed flush: the contents of the disk are unknown then, and the same file is never flushed twice. After other
    /// failures they stay, some of them under their names in `icons/`, as if they were written ahead. Only images whose
    /// files are missing or damaged are lost, and those that replaced damaged files of earlier generations.
    package func publish(_ publication: Publication) -> PublicationResult {
        if let loss { return .refused(PublicationResult.Refusal(reason: "\(loss)")) }
        let texts = publication.documents.map(\.text)
        if let shortage = shortage(for: publication, texts) { return shortage }
        (refusal, replaced) = (PublicationResult.Refusal(), [])
        let failedFlush = folder.clearFailedFlush()
        do throws(FileError) {
            if let failedFlush { throw failedFlush }
            return try folder.keepingFoldersOpen { () throws(FileError) in
                try undoFailed()
                if let flaw = try flaw(of: publication) { return .refused(PublicationResult.Refusal(reason: flaw)) }
                return try publish(publication, texts)
            }
        } catch {
            let isFlushed = failedFlush == nil && folder.clearFailedFlush() == nil
            guard isFlushed, !error.isOutOfSpace else {
                undoAll(removing: publication.staged.compactMap { drop($0.name) })
                restoreTree(after: error)
                if error.isOutOfSpace { staged.close() }
                return .failed(reason: "\(error)", isOutOfSpace: error.isOutOfSpace)
            }
            staged.keepPlaced(publication.moves)
            let lost = publication.staged.filter { replaced.contains($0.name) || isLost($0) }.map(\.name)
            undoAll(removing: lost.compactMap(drop))
            if restoreTree(after: error) { refusal = PublicationResult.Refusal() }
            refusal.reason = "\(error)"
            refusal.lost = Set(lost)
            refusal.unplaced.subtract(lost)
            kept.formUnion(publication.staged.lazy.map(\.name).filter { [lost = refusal.lost] in !lost.contains($0) })
            return .refused(refusal)
        }
    }

    /// Recreates a folder that was removed, for the next attempt; returns whether it did.
    @discardableResult
    private func restoreTree(after error: FileError) -> Bool {
        error.errno == .noSuchFileOrDirectory && (try? folder.makeTree()) != nil
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

    /// Undoes all changes of the publication under way, and removes these files; what remains is undone before the next.
    private func undoAll(removing files: [String]) {
        let undos = staged.undos(removing: files + [Self.temporary])
        staged.replaceUndos(by: undos.filter { (try? undo($0)) == nil })
    }

    /// Whether the file of a staged image is missing or damaged; an unreadable one counts as intact.
    private func isLost(_ image: StagedImage) -> Bool {
        switch staged.place(of: image.name) {
        case .memory: false
        case .staging: (try? folder.isPlausible(image.image, at: StagingPath.of(image.name))) == false
        case .ahead: (try? folder.isPlausible(image.image, at: image.image.path)) == false
        }
    }

    /// Undoes the remaining changes of failed publications; names that no document shows may wait.
    private func undoFailed() throws(FileError) {
        misnamed = []
        for change in staged.undos(removing: [Self.temporary]) {
            do throws(FileError) {
                try undo(change)
            } catch {
                guard case .restore(let url, before: nil) = change else { throw error }
                misnamed.insert(url)
            }
        }
        undoNamesLater()
    }

    private func undoNamesLater() { staged.replaceUndos(by: misnamed.map { .restore($0, before: nil) }) }

    private func undo(_ undo: StagedImages.Undo) throws(FileError) {
        switch undo {
        case .remove(let name): try folder.discard(name)
        case .restore(let url, let before):
            let name = CacheLayout.byURL(url)
            do throws(FileError) {
                if let before { return try folder.replaceLink(before, at: name, temporary: Self.temporary) }
            } catch {
                // The earlier image was removed: the name would lead nowhere.
                guard error.errno == .noSuchFileOrDirectory else { throw error }
            }
            try folder.discard(name)
        }
    }

    /// Checks before any change that there is space for the documents.
    private func shortage(for publication: Publication, _ texts: [[UInt8]]) -> PublicationResult? {
        guard !publication.ignoresRoom, let reserve = self.space?.reserve, let space = folder.space else { return nil }
        let room = space.roomForDocuments(above: reserve)
        let documents = Dictionary(zip(publication.documents.map(\.list), texts.map(\.count))) { a, _ in a }
        let shortage = space.shortage(forDocuments: documents.values.reduce(0, +), above: reserve)
        return shortage.map { .noRoom($0, room: room, documents: documents) }
    }

    private func publish(_ publication: Publication, _ texts: [[UInt8]]) throws(FileError) -> PublicationResult {
        // The file of a discarded image may differ from the file at its final name.
        let named = staged.handOver(to: publication)
        try each(publication.moves, place) { refusal.unplaced.insert($0.name) }
        let moved = Set(publication.moves.map(\.image.sha256))
        let others = publication.discards.filter { !moved.contains($0.image.sha256) }
        try each(others, replaceDamaged) { refusal.unplaced.insert($0.name) }
        var manifest = Manifest(
            generation: publication.generation, published: publication.published, lists: publication.kept)
        var written = WrittenBytes()
        written.replaced = Set(others.lazy.filter { self.replaced.contains($0.name) }.map(\.image.sha256))
        for (document, text) in zip(publication.documents, texts) {
            let summary = Manifest.List(document, sha256: .of(text))
            // A document of an older generation exists already, and must survive a failure of this publication.
            if try folder.entry(summary.document) == nil {
                try replace(summary.document, by: text)
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
        try replace(isFirst ? Self.first : generation, by: text)
        written.manifest = text.count

        try barrier.pass(files: staged.placed)

        try each(CacheLayout.inOrder(publication.links, \.url)) { (name, link) throws(FileError) in
            let isThere = named.contains(link.url)
            try set(link, at: name, isThere: isThere)
            // The hand-over has recorded the change.
            if !isThere { staged.record(.restore(link.url, before: link.before)) }
        } failed: { _, link in
            refusal.unnamed.insert(link.url)
        }
        if isFirst {
            try folder.rename(Self.first, to: CacheLayout.manifest)
        } else {
            try folder.replaceLink(generation, at: CacheLayout.manifest, temporary: Self.temporary)
        }
        // Readers see the new manifest now: nothing that it names may be rolled back.
        if !misnamed.isEmpty { misnamed.subtract(publication.links.lazy.map(\.url)) }
        undoNamesLater()
        for image in publication.staged {
            kept.remove(image.name)
            if staged.remove(image.name) == .staging { folder.remove(StagingPath.of(image.name)) }
        }
        staged.forgetMoved()
        do throws(FileError) {
            if isFirst { try folder.link(CacheLayout.manifest, to: generation) }
            try barrier.pass(
                names: [CacheLayout.manifest, generation] + publication.links.map { CacheLayout.byURL($0.url) })
            return .published(manifest, written: written)
        } catch {
            _ = folder.clearFailedFlush()
            return .published(manifest, written: written, doubt: "\(error)")
        }
    }

    /// Does the same with all elements, also after one fails, unless there is no space.
    ///
    /// - Throws: ``FileError``, the first one in the order of paths.
    private func each<Element>(
        _ elements: some Sequence<Element>, _ body: (Element) throws(FileError) -> Void, failed: (Element) -> Void
    ) throws(FileError) {
        var failure: FileError?
        for element in elements {
            do throws(FileError) {
                try body(element)
            } catch {
                if error.isOutOfSpace { throw error }
                failed(element)
                if failure.map({ error.path < $0.path }) ?? true { failure = error }
            }
        }
        if let failure { throw failure }
    }

    /// Moves an image to its name in `icons/`; replaces an existing file.
    private func place(_ image: StagedImage) throws(FileError) {
        let name = image.image.path
        switch staged.place(of: image.name) {
        case .staging:
            let file = StagingPath.of(image.name)
            if try folder.entry(file) != nil, try !isIntact(image, at: file) {
                folder.remove(file)
                throw folder.failure("use the damaged file", file, .ioError)
            }
            try folder.rename(file, to: name)
            staged.record(.remove(name))
            // A rename onto a link of the same file, kept by a failed publication, leaves both.
            folder.remove(file)
        case .memory(let bytes): try replace(name, by: bytes)
        case .ahead(let path, _):
            guard try isIntact(image, at: name) else {
                if folder.remove(name) != nil { throw folder.failure("use the damaged file", name, .ioError) }
                throw folder.failure("find", name, .noSuchFileOrDirectory)
            }
            // The file that was written ahead is in an earlier cache folder: this one is not ours to remove.
            guard path != nil else { return }
            staged.record(.remove(name))
        }
        staged.placed(image)
    }

    /// Whether the file of a staged image is as it was written; it is read only if it has waited for long.
    private func isIntact(_ image: StagedImage, at name: String) throws(FileError) -> Bool {
        guard kept.contains(image.name) else { return try folder.isPlausible(image.image, at: name) }
        switch Verification.flaw(of: image.image, at: name, in: folder) {
        case nil: return true
        case .missing, .wrong: return false
        case .unreadable(let error): throw error
        }
    }

    /// Replaces the image's file with the download, if the file is missing or damaged.
    private func replaceDamaged(_ image: StagedImage) throws(FileError) {
        switch Verification.flaw(of: image.image, at: image.image.path, in: folder) {
        case nil: break
        // A file that may be intact must not be removed if the publication fails.
        case .unreadable(let error): throw error
        case .missing, .wrong:
            try place(image)
            replaced.insert(image.name)
        }
    }

    /// Sets a `by-url/` name; a name made ahead of the publication (`isThere`) stays if it still is a link to a file in
    /// `icons/`.
    private func set(_ link: Publication.Link, at name: String, isThere: Bool) throws(FileError) {
        if isThere, let found = try? folder.status(name), found.st_mode & S_IFMT == S_IFREG, found.st_nlink > 1 {
            return
        }
        if (try? folder.linkIfAbsent(link.path, to: name)) == true { return }
        if let found = try? folder.entry(name), found.inode == (try? folder.entry(link.path))?.inode { return }
        try folder.replaceLink(link.path, at: name, temporary: Self.temporary)
    }

    /// The images among `images`, reported as damaged, that are damaged while no publication is running.
    package func damaged(among images: Set<AppListDocument.Image>) -> Set<AppListDocument.Image> {
        images.filter { Verification.flaw(of: $0, at: $0.path, in: folder)?.isCertain ?? false }
    }

    /// Writes a file; replaces an existing file of its name.
    private func replace(_ name: String, by bytes: [UInt8]) throws(FileError) {
        try folder.write(bytes, to: Self.temporary, mode: CacheFolder.imageMode)
        do throws(FileError) {
            try folder.rename(Self.temporary, to: name)
        } catch {
            folder.remove(Self.temporary)
            throw error
        }
        staged.record(.remove(name))
    }

    /// The one temporary name of a publication: publications do not overlap.
    private static let temporary = StagingPath.of("publication")
    /// The temporary file that becomes the manifest if there is none.
    private static let first = StagingPath.of("manifest")
}
