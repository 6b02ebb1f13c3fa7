// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
import SystemPackage

/// Makes everything that was written durable: data, names and folders.
///
/// One `syncfs(2)` serves any number of files where the file system is known to honour it. Elsewhere each file and
/// folder is flushed by itself: on FUSE `syncfs` returned 0 and lost everything in simulated power cuts.
///
/// A failure is remembered in the ``CacheFolder`` whoever asked for the flush, and fails the next publication.
struct Barrier: Sendable {
    /// The magic numbers of `statfs(2)` of ext4, xfs, btrfs and overlayfs; and of tmpfs, where nothing is durable anyway.
    private static let honest: Set<Int> = [0xEF53, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0x0102_1994]

    private let folder: CacheFolder
    private let metrics: AgentMetrics?

    init(_ folder: CacheFolder, metrics: AgentMetrics? = nil) {
        self.folder = folder
        self.metrics = metrics
    }

    /// Whether it flushes all that the file system has, and not only what it is told of.
    var flushesWhole: Bool {
        var status = statfs()
        return fstatfs(folder.descriptor.rawValue, &status) == 0
            && Self.honest.contains(Int(status.f_type) & 0xFFFF_FFFF)
    }

    /// Returns when the files, and the names of them in their folders, are durable.
    ///
    /// - Parameter files: Paths relative to the cache folder of all files that were written since the last barrier.
    /// - Throws: ``FileError`` if something may not be durable; the files are not to be relied on, nor flushed again.
    func pass(files: [String]) throws(FileError) {
        try flush { () throws(FileError) in
            if !flushesWhole { for file in files { try folder.sync(file) } }
            try flush(names: files)
        }
    }

    /// Returns when the names of files are durable that are so themselves.
    ///
    /// To flush the folder that got the last one of them would do on ext4 and xfs, where one journal has them all in their
    /// order. On btrfs the others were lost.
    ///
    /// - Parameter names: Paths relative to the cache folder.
    /// - Throws: ``FileError`` if one of them may not be durable.
    func pass(names: [String]) throws(FileError) {
        try flush { () throws(FileError) in try flush(names: names) }
    }

    private func flush(_ body: () throws(FileError) -> Void) throws(FileError) {
        let start = ContinuousClock.now
        do throws(FileError) {
            try folder.flushing(body)
            metrics?.noteFlush(isWhole: true, in: .now - start)
        } catch {
            metrics?.noteFlush(isWhole: false, in: .now - start)
            throw error
        }
    }

    private func flush(names: [String]) throws(FileError) {
        guard !flushesWhole else {
            guard syncfs(folder.descriptor.rawValue) == 0 else {
                throw FileError("syncfs", folder.path.string, Errno(rawValue: errno))
            }
            return
        }
        let parents = names.flatMap { name in
            let parts = name.split(atByte: "/").dropLast()
            return parts.indices.map { parts[...$0].joined(separator: "/") }
        }
        for parent in Set(parents + ["."]) { try folder.sync(parent) }
    }
}
