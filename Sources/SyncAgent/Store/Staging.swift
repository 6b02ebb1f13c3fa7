// SPDX-License-Identifier: Apache-2.0
import IconCache
package import SyncPlan
import SystemPackage

/// Downloads on their way: files in `staging/` that no manifest names yet.
package actor Staging {
    private let folder: CacheFolder
    private let reserve: SpaceReserve
    private let thread = FileThread("staging")
    private var lastNumber = 0
    /// The files that are being written, by name.
    private var open: [String: FileDescriptor] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - folder: The cache.
    ///   - reserve: How much of its file system is left free.
    package init(_ folder: CacheFolder, reserve: SpaceReserve) {
        self.folder = folder
        self.reserve = reserve
    }

    /// Fails with a `Shortage` if there is no room for so many bytes; `nil` if it is not known how many.
    package func checkRoom(for bytes: Int?) throws(Shortage) {
        if let shortage = folder.space?.shortage(for: bytes, above: reserve) { throw shortage }
    }

    /// What the file system has, and if it seems to have room for so many bytes, whether they can be written.
    package func measure(trial bytes: Int) -> Result<DiskSpace, Shortage> {
        let space = folder.space
        if let space, space.shortage(for: bytes, above: reserve) != nil { return .success(space) }
        let name = StagingPath.of("trial")
        do throws(FileError) {
            folder.remove(name)
            try folder.write(repeatElement(0, count: bytes), to: name, mode: .ownerReadWrite)
            folder.remove(name)
        } catch {
            return .failure(Shortage(bytes: bytes, isGeneral: true, reason: "\(error)"))
        }
        return .success(space ?? DiskSpace(folder: folder.path.string, bytes: .init(free: .max, total: .max)))
    }

    /// Writes a whole small image, if there is room for it.
    ///
    /// - Returns: The file's name in `staging/`.
    /// - Throws: ``FileError``, or a `Shortage`.
    package func write(_ bytes: [UInt8]) throws -> String {
        try checkRoom(for: bytes.count)
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
    /// - Returns: The file's name in `staging/`; it stays open until `end` or `abandon`.
    package func begin() throws(FileError) -> String {
        let name = nextName()
        open[name] = try folder.create(StagingPath.of(name), mode: CacheFolder.imageMode)
        return name
    }

    /// Writes more of an image, if there is room for it.
    ///
    /// - Throws: ``FileError``, or a `Shortage`.
    package func append(_ bytes: [UInt8], to name: String) throws {
        try checkRoom(for: bytes.count)
        guard let file = open[name] else { preconditionFailure("only a file that was begun is written to") }
        do {
            _ = try file.writeAll(bytes)
        } catch {
            throw folder.failure("write", StagingPath.of(name), error as? Errno ?? .ioError)
        }
    }

    /// Ends a file that has all its bytes, and gives them back for a last look.
    package func end(_ name: String) throws(FileError) -> [UInt8] {
        try? open.removeValue(forKey: name)?.close()
        let reader = try folder.open(StagingPath.of(name))
        defer { try? reader.close() }
        do {
            return try FileBytes.read(reader)
        } catch {
            throw folder.failure("read", StagingPath.of(name), error)
        }
    }

    /// Gives a file up, whether it has ended or not.
    package func abandon(_ name: String) {
        try? open.removeValue(forKey: name)?.close()
        folder.remove(StagingPath.of(name))
    }

    /// Removes files that will not be published.
    package func discard(_ names: [String]) {
        for name in names { folder.remove(StagingPath.of(name)) }
    }

    private func nextName() -> String {
        lastNumber += 1
        return String(lastNumber)
    }
}

enum StagingPath {
    static func of(_ name: String) -> String { "\(CacheLayout.staging)/\(name)" }
}
