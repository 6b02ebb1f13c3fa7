// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
import SystemPackage

/// Makes everything that was written durable: data, names and folders.
///
/// One `syncfs(2)` serves any number of files on file systems known to honour it. Elsewhere each file and folder is
/// fsynced: on FUSE `syncfs` returned 0 and lost everything in simulated power cuts.
///
/// The ``CacheFolder`` remembers any failure, whoever asked for the flush; it makes the next publication fail.
struct Barrier: Sendable {
    /// The `statfs(2)` magic numbers of ext4, xfs, btrfs and overlayfs; and of tmpfs, where nothing is durable anyway.
    private static let honest: Set<UInt32> = [0xEF53, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0x0102_1994]

    let folder: CacheFolder
    var metrics: AgentMetrics?

    /// Whether one flush covers the whole file system, not only the given files.
    var flushesWhole: Bool { folder.fileSystem.map(Self.honest.contains) ?? false }

    /// Makes files and their names in their folders durable.
    ///
    /// - Parameter files: All files written since the last barrier, relative to the cache folder.
    /// - Throws: ``FileError`` if one of them may not be durable; do not rely on them, and never flush them again.
    func pass(files: @autoclosure () -> [String]) throws(FileError) {
        try flush { () throws(FileError) in
            guard !flushesWhole else { return try flushAll() }
            let files = files()
            for file in files { try folder.sync(file) }
            try flush(names: files)
        }
    }

    /// Makes the names of files durable whose data already is.
    ///
    /// On ext4 and xfs it would suffice to flush the folder that got the last name: one journal keeps the order. On btrfs
    /// that lost the other names.
    ///
    /// - Parameter names: Paths relative to the cache folder.
    /// - Throws: ``FileError`` if one of them may not be durable.
    func pass(names: @autoclosure () -> [String]) throws(FileError) {
        try flush { () throws(FileError) in
            if flushesWhole { try flushAll() } else { try flush(names: names()) }
        }
    }

    private func flush(_ body: () throws(FileError) -> Void) throws(FileError) {
        let start = ContinuousClock.now
        do throws(FileError) {
            try folder.flushing(body)
            metrics?.recordFlush(isWhole: true, in: .now - start)
        } catch {
            metrics?.recordFlush(isWhole: false, in: .now - start)
            throw error
        }
    }

    private func flushAll() throws(FileError) {
        try FileError.check("syncfs", folder.path.string, syncfs(folder.descriptor.rawValue))
    }

    private func flush(names: [String]) throws(FileError) {
        let parents = names.flatMap { name in
            let parts = name.split(atByte: "/").dropLast()
            return parts.indices.map { parts[...$0].joined(separator: "/") }
        }
        for parent in Set(parents + ["."]) { try folder.sync(parent) }
    }
}
