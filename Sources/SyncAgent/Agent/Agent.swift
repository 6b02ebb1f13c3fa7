// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import Glibc
package import HTTPRules
import IconCache
package import Logging
package import Reports
import SyncPlan
package import SystemPackage

/// The agent: takes the locks, restores the cache and the state, and runs the loop.
package struct Agent: Sendable {
    package struct Helpers: Sendable {
        package var watch: FilePath
        package var parse: FilePath
        /// Programs that need not be installed, in the order in which they are asked.
        package var renderers: [FilePath]

        package init(watch: FilePath, parse: FilePath, renderers: [FilePath] = []) {
            (self.watch, self.parse, self.renderers) = (watch, parse, renderers)
        }
    }

    /// How long a reload may wait for the scan of the lists folder.
    private static let patience: Duration = .seconds(20)

    let folders: AgentFolders
    private(set) var settings: Settings
    let proxies: ProxyPolicy
    private let helpers: Helpers
    let budget: DescriptorBudget
    private let manager: ServiceManager?
    let logger: Logger
    let report: SettingsReport
    let readConfiguration: @Sendable () -> Reload

    package init(
        folders: AgentFolders, settings: Settings, proxies: ProxyPolicy = ProxyPolicy(), helpers: Helpers,
        budget: DescriptorBudget, report: SettingsReport, readConfiguration: @escaping @Sendable () -> Reload,
        manager: ServiceManager? = nil, logger: Logger
    ) {
        self.folders = folders
        self.report = report
        self.readConfiguration = readConfiguration
        self.settings = settings
        self.settings.fetch.concurrency = min(settings.fetch.concurrency, budget.downloads)
        self.budget = budget
        self.proxies = proxies
        self.helpers = helpers
        self.manager = manager
        self.logger = logger
    }

    /// Runs until its task is cancelled; or, with `once`, until one sync is done.
    ///
    /// - Parameters:
    ///   - once: Whether to end when nothing is left to do now. Earlier failures are then retried at once.
    ///   - progress: Called with the progress of a run with `once`. By default it is not reported.
    ///   - wakeUps: Each element reloads the configuration and rescans the lists folder (SIGHUP).
    ///   - makeServer: Makes the server that answers clients while the agent runs; it ends when its task is cancelled.
    /// - Returns: The state at the end.
    /// - Throws: ``FolderError`` or ``FileError`` if a folder cannot be used, also once its lock is lost,
    ///   ``IconCacheError/unknownFormat(path:format:)`` if a later version wrote the cache, and what the server throws.
    package func run(
        once: Bool, progress: (@Sendable (SyncReport) -> Void)? = nil,
        wakeUps: some AsyncSequence<Void, Never> & Sendable,
        makeServer: (RunningAgent) throws -> @Sendable () async throws -> Void
    ) async throws -> StatusReport {
        umask(settings.cache.mode.mask)
        try AgentFolders.make(folders.cache, mode: CacheFolder.openMode)
        try AgentFolders.make(folders.state, mode: [.ownerReadWriteExecute])
        let folder = try CacheFolder(folders.cache, keepingOpen: budget.folders)
        guard try folder.isOurs else { throw FolderError.foreign(folders.cache) }
        let common = try folder.checkTrust()
        let state = try FileDescriptor.openFolder(folders.state)
        defer { try? state.close() }
        try FolderTrust(root: folders.state).check(
            state, onlyNames: [CacheLayout.lock] + StateStore.files + EventJournal.files)
        let locks = try await FolderLock.locks(
            on: [(folder.descriptor, folders.cache), (state, folders.state)], logger: logger)
        defer { withExtendedLifetime(locks) {} }
        let clock = AgentClock()
        logStart()
        let mode = FilePermissions(rawValue: CacheFolder.openMode.rawValue & ~settings.cache.mode.mask)
        try folder.setMode(mode, common: common)
        let (plan, known, old, store, partials) = try await begin(in: folder, once: once, clock: clock)

        let staged = StagedImages()
        let staging = Staging(folder, staged: staged, reserve: settings.cache.minFree, partials: partials)
        let thread = FileThread("store")
        let metrics = AgentMetrics()
        let publisher = Publisher(
            folder, lock: locks[0], staged: staged, space: staging.space, thread: thread, metrics: metrics)
        let adopted = AdoptedLists(state: folders.state, settings)
        let lists = ListService(
            folder: folders.lists, adopted: adopted.root, watchProgram: helpers.watch, parseProgram: helpers.parse,
            settings: settings.lists, known: known, old: old, clock: clock, logger: logger, metrics: metrics)
        let journal = EventJournal(in: folders.state, logger: logger)
        let evictor = Evictor(folder, lock: locks[0], thread: thread, logger: logger, metrics: metrics)
        evictor.logLeaseDoubt()
        let loop = AgentLoop(clock: clock, logger: logger, journal: journal) { post in
            let downloads = Downloads(
                settings: settings, proxies: proxies, staging: staging, clock: clock, idleTime: budget.idleTime,
                metrics: metrics
            ) { post($0.map { .fetched($0) }) }
            return SystemEffects(
                downloads: downloads, staging: staging, publisher: publisher,
                evictor: evictor, inspector: CacheInspector(publisher, lock: locks[0], logger: logger),
                database: store,
                scanLists: {
                    if once {
                        await lists.scanOnce { post([.scanned($0)]) }
                    } else {
                        lists.requestScan(isThorough: false)
                    }
                },
                renderer: Renderer(
                    helper: RenderHelper(programs: helpers.renderers), folder: folder, staging: staging,
                    downloads: downloads, metrics: metrics),
                adopted: adopted, metrics: metrics)
        }
        async let _: Void = loop.stop(at: locks[0].lost)
        if let loss = store.lossAtStart { loop.emit(.stateReplaced(loss, isKnown: false)) }
        let report =
            if once {
                try await runOnce(plan, loop, lists, progress)
            } else {
                try await run(
                    plan, publisher,
                    RunningAgent(
                        loop: loop, lists: lists, scrubber: Scrubber(folder, publisher: publisher, logger: logger),
                        settings: LatestSettings(report), counts: metrics,
                        space: { folder.space?.bytes },
                        textfile: settings.metrics.textfile.map { MetricsTextfile(at: FilePath($0), logger: logger) },
                        damagedState: { store.damagedFile },
                        leaseDoubt: { folder.leaseDoubt }),
                    clock: clock, wakeUps: wakeUps, makeServer: makeServer)
            }
        logger.info(
            "stopped",
            metadata: [
                "generation": "\(report.generation ?? 0)", "ready": "\(report.icons.ready)",
                "failed": "\(report.icons.failed)",
            ])
        // Without this, the last changes may stay in the log of the database.
        try? await store.close()
        if let loss = locks[0].loss { throw loss }
        return report
    }

    private func logStart() {
        var facts: Logger.Metadata = [
            "version": "\(Version.current)", "lists": "\(folders.lists)", "cache": "\(folders.cache)",
            "state": "\(folders.state)", "socket": "\(folders.socket)",
        ]
        let networks = settings.network.allow.map { "\($0)" }
        facts["networks"] = "\((["public"] + networks).joined(separator: " "))"
        let proxies = proxies.proxies.map(\.description).sorted()
        if !proxies.isEmpty { facts["proxy"] = "\(proxies.joined(separator: " "))" }
        let changed = report.settings.filter { $0.value != $0.default }.map { "\($0.key)=\($0.value)" }
        if !changed.isEmpty { facts["settings"] = "\(changed.joined(separator: " "))" }
        logger.info("started", metadata: facts)
        logWarnings(of: settings)
    }

    /// Restores what earlier runs left, and builds the plan from it.
    ///
    /// The plan alone keeps the restored data, and has one owner.
    private func begin(
        in folder: CacheFolder, once: Bool, clock: AgentClock
    ) async throws -> (
        plan: Handover<Reconciler>, known: [ListName: KnownList], old: Set<ListName>, store: StateStore,
        partials: [PartialDownload]
    ) {
        // Opens the database while the cache is read.
        async let opening = StateStore(folder: folders.state, clock: clock, logger: logger)
        var restored = try StartUpRecovery.run(folder, logger: logger)
        // Creates a missing lists folder only if nothing was ever published: otherwise it may just be unmounted.
        if restored.manifests.isEmpty {
            do throws(FileError) {
                try AgentFolders.make(folders.lists, mode: CacheFolder.openMode)
            } catch {
                if once { throw error }
                let words = (folders.lists.starts(with: "/etc") ? "sudo " : "") + "mkdir -p "
                logger.warning(
                    "cannot create the lists folder: create it with this command, no restart is needed",
                    metadata: [
                        "reason": "\(error)", "command": "\(words)\(ShellWord.quoted(folders.lists.string))",
                    ])
            }
        }
        restored.buildCatalog()
        // The memory of the documents is free now, and would stay resident until the agent is idle.
        HeapTrimmer.trim()
        let store = try await opening
        restored.memory = store.remembered
        restored.machine = MachineID.current
        store.forgetRemembered()
        if once {
            restored.memory.icons.removeFailures()
            for index in restored.memory.origins.indices { restored.memory.origins[index].health = OriginHealth() }
        }
        logger.info(
            "cache opened",
            metadata: [
                "cache": "\(folders.cache)", "generation": "\(restored.nextGeneration - 1)",
                "lists": "\(restored.manifests.last?.lists.count ?? 0)",
            ])
        let partials = restored.partials
        let old = Set(restored.manifests.last?.lists.keys.map(\.self) ?? [])
        let plan = Reconciler(
            settings: settings, seed: .random(in: 0 ... .max), restored: restored.moveOut(), triesOnce: once,
            now: clock.now)
        return (Handover(plan), plan.knownLists, old, store, partials)
    }

    private func runOnce(
        _ plan: Handover<Reconciler>, _ loop: AgentLoop, _ lists: ListService,
        _ progress: (@Sendable (SyncReport) -> Void)?
    ) async throws -> StatusReport {
        async let end = loop.run(plan, untilSettled: true)
        async let _: Void = loop.followSync(progress)
        await lists.scanOnce { loop.post(.scanned($0)) }
        return await end
    }

    private func run(
        _ plan: Handover<Reconciler>, _ publisher: Publisher, _ agent: RunningAgent, clock: AgentClock,
        wakeUps: some AsyncSequence<Void, Never> & Sendable,
        makeServer: (RunningAgent) throws -> @Sendable () async throws -> Void
    ) async throws -> StatusReport {
        let (loop, lists, scrubber) = (agent.loop, agent.lists, agent.scrubber)
        let server = try makeServer(agent)
        let service = manager.map {
            AgentService(
                manager: $0, agent: agent, probes: PartProbes(loop: loop, lists: lists, publisher: publisher),
                logger: logger)
        }
        return try await withThrowingTaskGroup(of: StatusReport?.self) { group in
            func add(_ work: @escaping @Sendable () async throws -> Void) {
                group.addTask {
                    try await work()
                    return nil
                }
            }
            group.addTask { await loop.run(plan, untilSettled: false) }
            add { try await lists.run { loop.post(.scanned($0)) } }
            add { try await server() }
            add {
                while true {
                    try await Task.sleep(for: .seconds(3600))
                    let isSuspicious = await scrubber.scrub(part: Scrubber.part(at: clock.now)) {
                        loop.post(.damaged($0))
                    }
                    if isSuspicious { loop.post(.suspected) }
                }
            }
            add {
                // Signals that come during a reload are one.
                for await _ in wakeUps {
                    for await _ in agent.reloads.post() { break }
                }
            }
            add {
                for await request in agent.reloads.all {
                    guard let service else {
                        request.yield(await reload(agent))
                        continue
                    }
                    await service.reload {
                        request.yield(await reload(agent))
                        await agent.rescan(atMost: Self.patience)
                    }
                }
            }
            if let textfile = agent.textfile { add { await textfile.run(for: agent) } }
            if let service { add { await service.run() } }
            defer { group.cancelAll() }
            while let result = await group.nextResult() {
                switch result {
                case .success(.some(let report)): return report
                case .success(nil): continue
                case .failure(let error): if !(error is CancellationError) { throw error }
                }
            }
            throw CancellationError()
        }
    }
}
