// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
package import CacheFormat
package import HTTPRules
package import SyncPlan
import Synchronization
import SystemPackage

/// Downloads on their way, which no manifest names yet: small ones in memory, the others as files in `staging/`.
package actor Staging {
    private let folder: CacheFolder
    private let held: HeldImages
    /// How much of the file system is left free.
    private let reserve: Mutex<SpaceReserve>
    private let gauge = SpaceGauge()
    private let thread = FileThread("staging")
    private let lastNumber = Atomic(0)
    /// The files that are being written, by name.
    private var open: [String: FileDescriptor] = [:]
    private var partials: Partials

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - folder: The cache.
    ///   - held: The small images.
    ///   - reserve: How much of its file system is left free.
    ///   - partials: What an earlier run left of images.
    package init(
        _ folder: CacheFolder, held: HeldImages, reserve: SpaceReserve, partials: [PartialDownload] = []
    ) {
        self.folder = folder
        self.held = held
        self.reserve = Mutex(reserve)
        self.partials = Partials(folder, kept: partials)
    }

    /// Fails with a `Shortage` if there is no room for so many bytes; `nil` if it is not known how many.
    ///
    /// If there was room a moment ago, that still counts: before a byte is written it is looked at again.
    package func checkRoom(for bytes: Int?) throws(Shortage) {
        if !hasRoom(for: bytes) { try look(for: bytes) }
    }

    /// Whether there was room for so many bytes a moment ago; `false` if nobody looked.
    package nonisolated func hasRoom(for bytes: Int?) -> Bool {
        let reserve = reserve.withLock(\.self)
        return gauge.latest.map { $0.space?.shortage(for: bytes, above: reserve) == nil } ?? false
    }

    /// Leaves so much of the file system free from now on.
    package nonisolated func reserve(_ reserve: SpaceReserve) {
        self.reserve.withLock { $0 = reserve }
    }

    private func look(for bytes: Int?) throws(Shortage) {
        let space = folder.space
        gauge.note(space)
        if let shortage = space?.shortage(for: bytes, above: reserve.withLock(\.self)) { throw shortage }
    }

    /// How much is written as a trial at most: each download finds out for itself whether there is room for it.
    private static let longestTrial = 64 << 20

    /// What the file system has, and if it seems to have room for so many bytes, whether they can be written.
    package func measure(trial bytes: Int) -> Result<DiskSpace, Shortage> {
        let space = folder.space
        gauge.note(space)
        if let space, space.shortage(for: bytes, above: reserve.withLock(\.self)) != nil { return .success(space) }
        let name = StagingPath.of("trial")
        do throws(FileError) {
            folder.remove(name)
            try writeTrial(of: min(bytes, Self.longestTrial), to: name)
            folder.remove(name)
        } catch {
            folder.remove(name)
            return .failure(Shortage(error.errno) ?? Shortage(bytes: bytes, isGeneral: true, reason: "\(error)"))
        }
        return .success(space ?? DiskSpace(folder: folder.path.string, bytes: .init(free: .max, total: .max)))
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

    /// Keeps a whole small image, if there is room for it.
    ///
    /// It goes to a file if too many are in memory, or if there is not much more room than for all these.
    ///
    /// - Returns: Its name.
    /// - Throws: ``FileError``, or a `Shortage`.
    package func keep(_ bytes: [UInt8]) throws -> String {
        try checkRoom(for: bytes.count)
        if let name = hold(bytes) { return name }
        return try write(bytes)
    }

    /// Holds a small image in memory, if there was much room for files a moment ago.
    ///
    /// - Returns: Its name; `nil` if it was not held.
    package nonisolated func hold(_ bytes: [UInt8]) -> String? {
        guard hasRoom(for: 2 * HeldImages.limit) else { return nil }
        let name = nextName()
        return held.hold(bytes, as: name) ? name : nil
    }

    /// Writes a whole small image to a file, if there is room for it.
    private func write(_ bytes: [UInt8]) throws -> String {
        try look(for: bytes.count)
        let name = nextName()
        do throws(FileError) {
            try folder.write(bytes, to: StagingPath.of(name), mode: CacheFolder.imageMode)
        } catch  where error.errno == .noSuchFileOrDirectory {
            try folder.makeTree()
            try folder.write(bytes, to: StagingPath.of(name), mode: CacheFolder.imageMode)
        }
        return name
    }

    /// Begins a file for an image that comes in pieces.
    ///
    /// - Parameter partial: What to keep of the image if it does not come to its end; `nil` if nothing.
    /// - Returns: The file's name in `staging/`; it stays open until `end`, `suspend` or `abandon`.
    /// - Throws: ``FileError`` if the file cannot be made.
    package func begin(_ partial: PartialDownload?) throws(FileError) -> String {
        guard let partial else {
            let name = nextName()
            open[name] = try folder.create(StagingPath.of(name), mode: CacheFolder.imageMode)
            return name
        }
        open[partial.file] = try partials.begin(partial)
        return partial.file
    }

    /// Writes more of an image, if there is room for it.
    ///
    /// - Throws: ``FileError``, or a `Shortage`.
    package func append(_ bytes: [UInt8], to name: String) throws {
        try look(for: bytes.count)
        guard let file = open[name] else { preconditionFailure("the staged file is not open") }
        do {
            _ = try file.writeAll(bytes)
        } catch {
            throw folder.failure("write", StagingPath.of(name), error as? Errno ?? .ioError)
        }
    }

    /// Ends a file that has all its bytes.
    ///
    /// - Parameters:
    ///   - name: The file's name in `staging/`.
    ///   - inspect: Says what image the bytes are. One file at a time is in memory for this.
    /// - Returns: The image, under its last name in `staging/`.
    /// - Throws: ``FileError``, or what `inspect` throws; the file is not given up then.
    package func end(
        _ name: String, inspect: @Sendable ([UInt8]) throws -> AppListDocument.Image
    ) throws -> StagedImage {
        do {
            // What could not be written may be told only now (close(2)).
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

    /// Gives a file up, whether it has ended or not.
    package func abandon(_ name: String) {
        try? open.removeValue(forKey: name)?.close()
        partials.remove(name)
    }

    /// Removes images that will not be published.
    package func discard(_ names: [String]) {
        for name in names where held.take(name) == nil { folder.remove(StagingPath.of(name)) }
    }

    // MARK: Beginnings

    /// What is kept of a URL's image.
    package func partial(of url: IconURL) -> PartialDownload? { partials[url] }

    /// Takes up what was kept of an image.
    ///
    /// - Returns: The file's name in `staging/`, as `begin` does; `nil` if the file is not as it was left.
    package func resume(_ partial: PartialDownload) -> String? {
        open[partial.file] = partials.resume(partial)
        return open[partial.file] == nil ? nil : partial.file
    }

    /// Keeps a file that was cut, for a later attempt, with the number of bytes that were written.
    package func suspend(_ partial: PartialDownload, now: Timestamp) {
        try? open.removeValue(forKey: partial.file)?.close()
        partials.keep(partial, now: now)
    }

    /// Removes what is kept of these URLs' images, those excepted that are being downloaded.
    package func discardPartials(of urls: Set<IconURL>) {
        for url in urls where open[PartialDownload.file(of: url)] == nil { partials.discard(url) }
    }

    private nonisolated func nextName() -> String {
        String(lastNumber.add(1, ordering: .relaxed).newValue)
    }
}
