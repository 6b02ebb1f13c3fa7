// SPDX-License-Identifier: Apache-2.0
import Glibc
import Reports
import SyncPlan
import SystemPackage
import TestSupport

@testable import AgentServer
@testable import AgentSettings
@testable import SyncAgent

/// A control server at a Unix socket in a temporary folder, with an agent's loop behind it, and a client.
struct ControlWorld {
    let folder: FilePath
    let loop: AgentLoop
    let lists: ListService
    let scrubber: Scrubber
    private let reloads = ReloadRequests()

    var socket: FilePath { folder.appending("control.sock") }
    var client: ControlClient { ControlClient(socket: socket) }

    /// What each reload ends with.
    static let reload = ReloadReport(changed: ["lists.settle"], needRestart: ["cache.mode"])

    /// The agent, with one setting from a file.
    var agent: RunningAgent {
        let setting = SettingsReport.Setting(
            key: "lists.settle", variable: "SYNCAGENT_LISTS_SETTLE", value: "1s", default: "100ms", source: "file",
            place: "/c:2", needsRestart: false)
        let settings = SettingsReport(
            file: "/c",
            folders: .init(
                lists: folder.appending("lists.d").string, cache: folder.appending("cache").string,
                state: folder.appending("state").string, socket: socket.string),
            settings: [setting])
        return RunningAgent(
            loop: loop, lists: lists, scrubber: scrubber, settings: LatestSettings(settings), reloads: reloads)
    }

    var api: API { API(agent: agent, logger: .silent) }

    /// Runs the body while the server answers, and ends everything after it.
    static func with(_ body: @escaping @Sendable (ControlWorld) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let world = try ControlWorld(in: folder)
            try await world.whileLooping {
                let server = try world.server()
                try await world.whileServing(server) { try await body(world) }
            }
        }
    }

    init(in folder: FilePath) throws {
        self.folder = folder
        let open: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
        for name in ["cache", "lists.d", "state"] { try AgentFolders.make(folder.appending(name), mode: open) }
        let cache = try CacheFolder(folder.appending("cache"))
        _ = try StartUpRecovery.run(cache, logger: .silent)
        let (staged, thread) = (StagedImages(), FileThread("tests"))
        let staging = Staging(cache, staged: staged, reserve: .percent(0), partials: [])
        let publisher = Publisher(cache, staged: staged, thread: thread)
        let clock = AgentClock()
        let database = try StateStore(folder: folder.appending("state"), clock: clock, logger: .silent)
        // Neither helper is there: the folder is polled, and has no list to parse.
        let lists = ListService(
            folder: folder.appending("lists.d"), watchProgram: folder.appending("none"),
            parseProgram: folder.appending("none"), settings: Settings().lists, clock: clock, logger: .silent)
        self.lists = lists
        let journal = EventJournal(in: folder.appending("state"), logger: .silent)
        loop = AgentLoop(clock: clock, logger: .silent, journal: journal) { post in
            SystemEffects(
                downloads: Downloads(settings: Settings(), staging: staging, clock: clock) {
                    post($0.map { .fetched($0) })
                },
                staging: staging, publisher: publisher,
                evictor: Evictor(cache, thread: thread, logger: .silent),
                inspector: CacheInspector(publisher, lock: nil, logger: .silent), database: database,
                scanLists: { lists.requestScan(isThorough: false) })
        }
        scrubber = Scrubber(cache, publisher: publisher, logger: .silent)
    }

    func server(at path: FilePath? = nil, clients: Int = 8, isOpenToAll: Bool = true) throws -> ControlServer {
        try ControlServer(
            at: path ?? socket, clients: clients, logger: .silent, api: api,
            access: SocketAccess(owner: geteuid(), isOpenToAll: isOpenToAll))
    }

    /// Runs the body while the loop runs and the lists folder is looked at.
    func whileLooping(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let plan = Handover(Reconciler(settings: Settings(), seed: 1, now: loop.now))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await loop.run(plan, untilSettled: false) }
            group.addTask { try? await lists.run { loop.post(.scanned($0)) } }
            group.addTask {
                for await request in reloads.all { request.yield(Self.reload) }
            }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Runs the body while the server answers.
    func whileServing(_ server: ControlServer, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            try await waitUntil { ControlClient(socket: server.path).isAnswered }
            try await body()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }
}
