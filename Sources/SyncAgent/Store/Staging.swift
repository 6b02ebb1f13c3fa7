// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// Downloads on their way: files in `staging/` that no manifest names yet.
package actor Staging {
    private let folder: CacheFolder
    private let thread = FileThread("staging")
    private var lastNumber = 0
    /// The files that are being written, by name.
    private var open: [String: FileDescriptor] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ folder: CacheFolder) {
        self.folder = folder
    }

    /// Writes a whole small image.
    ///
    /// - Returns: The file's name in `staging/`.
    package func write(_ bytes: [UInt8]) throws(FileError) -> String {
        let name = nextName()
        do {
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

    package func append(_ bytes: [UInt8], to name: String) throws(FileError) {
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
