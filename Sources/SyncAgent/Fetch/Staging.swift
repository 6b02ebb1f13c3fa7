// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import HTTPRules
package import SyncPlan
import Synchronization
import SystemPackage

/// Downloads that no manifest names yet: small ones in memory, others as files in `staging/`.
package actor Staging {
    private let folder: CacheFolder
    private let staged: StagedImages
    let space: SpaceGauge
    private let thread = FileThread("staging")
    private let lastNumber = Atomic(0)
    /// The files being written, by name.
    private var open: [String: FileDescriptor] = [:]
    private var partials: Partials

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates the staging area of a cache, with the incomplete images of an earlier run.
    package init(
        _ folder: CacheFolder, staged: StagedImages, reserve: SpaceReserve, partials: [PartialDownload] = []
    ) {
        self.folder = folder
        self.staged = staged
        space = SpaceGauge(reserve: reserve)
        self.partials = Partials(folder, kept: partials)
    }

    /// Fails with a `Shortage` if there is no space for this many bytes; `nil` if the size is unknown.
    ///
    /// A recent measurement counts: the space is measured again before a byte is written.
    package func checkRoom(for bytes: Int?) throws(Shortage) {
        if !space.hasRoom(for: bytes) { try measure(for: bytes) }
    }

    private func measure(for bytes: Int?) throws(Shortage) {
        let found = folder.space
        space.record(found)
        if let shortage = found?.shortage(for: bytes, above: space.reserve) { throw shortage }
    }

    /// The limit on a trial file; each download checks its own space.
    private static let longestTrial = 64 << 20

    /// Measures the free space; if it seems to suffice for this many bytes, also writes a trial file.
    package func measure(trial bytes: Int) -> Result<DiskSpace, Shortage> {
        let found = folder.space
        space.record(found)
        if let found, found.shortage(for: bytes, above: space.reserve) != nil { return .success(found) }
        let name = StagingPath.of("trial")
        do throws(FileError) {
            folder.remove(name)
            try writeTrial(of: min(bytes, Self.longestTrial), to: name)
            folder.remove(name)
        } catch {
            folder.remove(name)
            return .failure(Self.shortage(error, bytes: bytes))
        }
        return .success(found ?? DiskSpace(folder: folder.path.string, bytes: .init(free: .max, total: .max)))
    }

    private func writeTrial(of bytes: Int, to name: String) throws(FileError) {
        let file = try folder.create(name, mode: .ownerReadWrite)
        let piece = [UInt8](repeating: 0, count: 64 << 10)
        do {
            try file.closeAfter {
                var rest = bytes
                while rest > 0 { rest -= try file.writeAll(piece.prefix(rest)) }
            }
        } catch {
            throw folder.failure("write", name, error as? Errno ?? .ioError)
        }
    }

    /// Stores a complete small image, if there is space for it.
    ///
    /// It is written to a file if the memory limit is reached, or free space is short.
    ///
    /// - Returns: Its name.
    /// - Throws: ``FileError``, or a `Shortage`.
    package func keep(_ bytes: [UInt8]) throws -> String {
        try checkRoom(for: bytes.count)
        if let name = hold(bytes) { return name }
        return try write(bytes)
    }

    /// Keeps a small image in memory, if a recent measurement found ample space for files.
    ///
    /// - Returns: Its name; `nil` if it was not kept.
    package nonisolated func hold(_ bytes: [UInt8]) -> String? {
        guard space.hasRoom(for: 2 * StagedImages.limit) else { return nil }
        let name = nextName()
        return staged.hold(bytes, as: name) ? name : nil
    }

    private func write(_ bytes: [UInt8]) throws -> String {
        try measure(for: bytes.count)
        let name = nextName()
        let file = try creating { () throws(FileError) in
            try folder.create(StagingPath.of(name), mode: CacheFolder.imageMode)
        }
        do {
            try file.closeAfter { _ = try file.writeAll(bytes) }
        } catch {
            folder.remove(StagingPath.of(name))
            throw folder.failure("write", StagingPath.of(name), error as? Errno ?? .ioError)
        }
        return name
    }

    /// Creates a file; if that fails, no image can be stored until a trial file can be written.
    ///
    /// So a folder that refuses new files is no failure of each icon, which would be requested again and again.
    ///
    /// - Throws: ``FileError`` if there is no space, or a `Shortage` of everything.
    private func creating(
        _ create: () throws(FileError) -> FileDescriptor
    ) throws -> FileDescriptor {
        do throws(FileError) {
            do throws(FileError) {
                return try create()
            } catch  where error.errno == .noSuchFileOrDirectory {
                try folder.makeTree()
                return try create()
            }
        } catch {
            // A name that is taken says nothing of others.
            if error.isOutOfSpace || [.fileExists, .isDirectory].contains(error.errno) { throw error }
            throw Self.shortage(error, bytes: DiskSpace.usual)
        }
    }

    /// The shortage of everything that a failed write means.
    private static func shortage(_ error: FileError, bytes: Int) -> Shortage {
        Shortage(error, of: bytes) ?? Shortage(.outOfResources, bytes: bytes, isGeneral: true, reason: "\(error)")
    }

    /// Keeps a copy of an image that another icon has, staged or published.
    ///
    /// - Returns: Its name; `nil` if the image is gone.
    /// - Throws: ``FileError``, or a `Shortage`.
    package func copy(_ shared: SharedImage) throws -> String? {
        if let name = shared.staged, let bytes = staged.bytes(of: name) { return try keep(bytes) }
        let file = shared.staged.map(StagingPath.of)
        for path in [file, shared.image.path].compactMap(\.self) {
            guard let bytes = try? folder.read(path, upTo: shared.image.bytes), Digest.of(bytes) == shared.image.sha256
            else { continue }
            // A link needs no room. What was written ahead gets none: a rename onto a link of the same file does nothing.
            let name = nextName()
            let mayLink = path == file || file == nil
            return mayLink && (try? folder.link(path, to: StagingPath.of(name))) != nil ? name : try keep(bytes)
        }
        return nil
    }

    /// Begins a file for an image that arrives in pieces.
    ///
    /// - Parameter partial: What to keep of an incomplete image; `nil` for nothing.
    /// - Returns: The file's name in `staging/`; it stays open until `end`, `suspend` or `abandon`.
    /// - Throws: ``FileError`` or a `Shortage` if the file cannot be created.
    package func begin(_ partial: PartialDownload?) throws -> String {
        let name = partial?.file ?? nextName()
        open[name] = try creating { () throws(FileError) in
            if let partial { return try partials.begin(partial) }
            return try folder.create(StagingPath.of(name), mode: CacheFolder.imageMode)
        }
        return name
    }

    /// Appends bytes to an image, if there is space for them.
    ///
    /// - Throws: ``FileError``, or a `Shortage`.
    package func append(_ bytes: [UInt8], to name: String) throws {
        try measure(for: bytes.count)
        guard let file = open[name] else { preconditionFailure("the staged file is not open") }
        do {
            _ = try file.writeAll(bytes)
        } catch {
            throw folder.failure("write", StagingPath.of(name), error as? Errno ?? .ioError)
        }
    }

    /// Closes a complete file, and inspects it.
    ///
    /// - Parameters:
    ///   - name: The file's name in `staging/`.
    ///   - inspect: Identifies the image. One file at a time is in memory for this.
    /// - Returns: The image, with its final name in `staging/`.
    /// - Throws: ``FileError``, or what `inspect` throws; the file is not abandoned then.
    package func end(
        _ name: String, inspect: @Sendable ([UInt8]) throws -> AppListDocument.Image
    ) throws -> StagedImage {
        do {
            // A write error can be reported as late as here (close(2)).
            try open.removeValue(forKey: name)?.close()
        } catch {
            throw folder.failure("write", StagingPath.of(name), error as? Errno ?? .ioError)
        }
        let image = try inspect(folder.read(StagingPath.of(name)))
        guard name.ends(withBytes: PartialDownload.suffix) else { return StagedImage(name: name, image: image) }
        let newName = nextName()
        try partials.finish(name, as: newName)
        return StagedImage(name: newName, image: image)
    }

    /// Closes and removes a file, complete or not.
    package func abandon(_ name: String) {
        try? open.removeValue(forKey: name)?.close()
        partials.remove(name)
    }

    /// Removes images that will not be published.
    package func discard(_ names: [String]) {
        for name in names where staged.remove(name) == .staging { folder.remove(StagingPath.of(name)) }
    }

    // MARK: Partial files

    /// The incomplete image of a URL that is kept.
    package func partial(of url: IconURL) -> PartialDownload? { partials[url] }

    /// Reopens an incomplete image.
    ///
    /// - Returns: The file's name in `staging/`, as from `begin`; `nil` if the file is missing or has changed.
    package func resume(_ partial: PartialDownload) -> String? {
        open[partial.file] = partials.resume(partial)
        return open[partial.file] == nil ? nil : partial.file
    }

    /// Closes an incomplete file, and keeps it for a later attempt.
    package func suspend(_ partial: PartialDownload, now: Timestamp) {
        try? open.removeValue(forKey: partial.file)?.close()
        partials.keep(partial, now: now)
    }

    /// Removes the incomplete images of these URLs, except those being downloaded.
    package func discardPartials(of urls: Set<IconURL>) {
        for url in urls where open[PartialDownload.file(of: url)] == nil { partials.discard(url) }
    }

    private nonisolated func nextName() -> String {
        String(lastNumber.add(1, ordering: .relaxed).newValue)
    }
}
