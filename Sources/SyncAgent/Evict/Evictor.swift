// SPDX-License-Identifier: Apache-2.0
import IconCache
package import Logging
package import Reports
package import SyncPlan
import Synchronization
import SystemPackage

/// Removes retired files.
///
/// It shares its thread with the ``Publisher``, so no file is removed during a publication that may name it.
package actor Evictor {
    private let folder: CacheFolder
    /// The agent's lock on the folder; `nil` if the caller keeps it.
    private let lock: FolderLock?
    private let thread: FileThread
    private let logger: Logger
    private let metrics: AgentMetrics
    /// The generations whose failed removal was logged.
    private var unremovable: Set<Int> = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(
        _ folder: CacheFolder, lock: FolderLock? = nil, thread: FileThread, logger: Logger,
        metrics: AgentMetrics = AgentMetrics()
    ) {
        self.folder = folder
        self.lock = lock
        self.thread = thread
        self.logger = logger
        self.metrics = metrics
    }

    /// Removes the files of superseded generations.
    ///
    /// - Returns: The removed ones, those retained because of a lease, and those that could not be removed.
    package func release(_ releases: [GenerationRelease]) -> ReleaseResult {
        var result = ReleaseResult()
        for release in releases {
            let generation = release.generation
            let name = CacheLayout.generation(generation)
            if let loss = lock?.loss(in: folder.descriptor) {
                result.failed.insert(generation)
                result.failure = "\(loss)"
                continue
            }
            do throws(FileError) {
                let file = try folder.open(name)
                defer { try? file.close() }
                guard let isIgnored = try ignoresLease(on: file, of: release) else {
                    result.kept.append(generation)
                    continue
                }
                try folder.discard(name)
                if isIgnored { recordIgnoredLease(on: generation) } else { metrics.recordRelease(ignoringLease: false) }
            } catch  where error.errno == .noSuchFileOrDirectory {
                // Someone else removed it.
                let isLeased = folder.isReplacedFileLeased(of: generation)
                guard release.ignoresLeases || !isLeased else {
                    result.kept.append(generation)
                    continue
                }
                if isLeased { recordIgnoredLease(on: generation) }
            } catch {
                result.failed.insert(generation)
                result.failure = "\(error)"
                if unremovable.insert(generation).inserted {
                    logger.warning(
                        "cannot remove a generation: retrying every minute", metadata: ["reason": "\(error)"])
                }
                continue
            }
            folder.replacedFiles.withLock { $0[generation] = nil }
            result.removed.append(generation)
            unremovable.remove(generation)
        }
        return result
    }

    /// Whether to remove a generation despite a possible lease on its file; `nil` if it must stay.
    ///
    /// - Throws: ``FileError`` if that is unknown for now.
    private func ignoresLease(on file: FileDescriptor, of release: GenerationRelease) throws(FileError) -> Bool? {
        let doubt = folder.leaseDoubt
        let (test, error) = folder.testLease(on: file, of: release.generation)
        if doubt == nil { logLeaseDoubt() }
        switch release.decision(after: test, seesAllLeases: folder.leaseDoubt == nil) {
        case .keep: return nil
        case .remove: return false
        case .removeDespiteLease: return true
        case .fail: throw folder.failure("lock", CacheLayout.generation(release.generation), error ?? .ioError)
        }
    }

    private func recordIgnoredLease(on generation: Int) {
        logger.warning("lease older than cache.leaseMax: ignored", metadata: ["generation": "\(generation)"])
        metrics.recordRelease(ignoringLease: true)
    }

    /// If leases may be invisible, logs why.
    package nonisolated func logLeaseDoubt() {
        guard let doubt = folder.leaseDoubt else { return }
        logger.warning("reader leases may go undetected", metadata: ["reason": "\(doubt.reason)"])
    }

    /// The leases on these generations, with their holders.
    package func leases(on generations: some Sequence<Int>) -> [EvictionReport.Lease] {
        let holders = LeaseHolders.all()
        return generations.compactMap { generation in
            let processes = folder.leasableInodes(of: generation).flatMap { holders[$0] ?? [] }.map(\.process)
            return processes.isEmpty ? nil : EvictionReport.Lease(generation: generation, pids: processes)
        }
    }

    /// Removes images, documents and `by-url/` names that no generation names, or damaged images.
    ///
    /// - Returns: What could not be removed and still exists.
    package func remove(_ plan: RetirementPlan) -> RetirementPlan {
        var errors: [any Error] = []
        func stays(_ name: String) -> Bool {
            if let loss = lock?.loss(in: folder.descriptor) {
                errors.append(loss)
            } else if let error = folder.remove(name) {
                errors.append(error)
            } else {
                return false
            }
            return true
        }
        var plan = plan
        var failed = RetirementPlan()
        let unreadable = plan.isOfDamage ? spare(&plan) : []
        failed.urls = plan.urls.filter { stays(CacheLayout.byURL($0)) }
        failed.images = plan.images.filter { stays($0.path) }
        failed.documents = plan.documents.filter { stays(CacheLayout.document($0)) }
        if let error = errors.first {
            failed.failure = "\(error)"
            logger.warning(
                "cannot remove retired files: retrying in a minute",
                metadata: ["files": "\(errors.count)", "reason": "\(error)"])
        }
        logger.info(
            "retired files removed",
            metadata: [
                "images": "\(plan.images.count - failed.images.count)",
                "documents": "\(plan.documents.count - failed.documents.count)",
            ])
        metrics.recordEviction(
            images: plan.images.count - failed.images.count, areDamaged: plan.isOfDamage, failures: errors.count)
        failed.images.formUnion(unreadable)
        return failed
    }

    /// Removes from the plan what is not damaged, or no longer.
    ///
    /// - Returns: The images for which that is unknown.
    private func spare(_ plan: inout RetirementPlan) -> Set<AppListDocument.Image> {
        var whole: Set<UInt64> = []
        var unreadable: Set<AppListDocument.Image> = []
        plan.images = plan.images.filter { image in
            do throws(FileError) {
                guard let entry = try folder.entry(image.path) else { return true }
                let bytes = try folder.readIfPresent(image.path, upTo: image.bytes)
                guard bytes.map(Digest.of) == image.sha256 else { return true }
                whole.insert(entry.inode)
            } catch {
                unreadable.insert(image)
            }
            return false
        }
        plan.urls = plan.urls.filter { url in
            guard let entry = try? folder.entry(CacheLayout.byURL(url)) else { return true }
            return !whole.contains(entry.inode)
        }
        return unreadable
    }
}
