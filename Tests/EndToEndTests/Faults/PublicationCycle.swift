// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import Synchronization
import SystemPackage
import TestSupport

@testable import SyncAgentCLI

/// One run of the agent that publishes and evicts, from the same beginning again and again.
struct PublicationCycle: Sendable {
    /// What there is before the run.
    enum Beginning: CaseIterable {
        /// No cache, and no state.
        case nothing
        /// A cache in which, with the run, one icon stays, one changes, one goes and one comes.
        case published
        /// The same, left by an agent that was killed when only `manifest.json` was still to be replaced.
        case interrupted
    }

    /// What came of a run under strace.
    struct Result {
        /// What a shell would say: 128 and the signal's number if it was killed.
        var code: Int32
        var messages: String
        /// Its calls on the files of the agent.
        var trace: [TracedCall]
        /// Whether the fault came about.
        var isFaulty: Bool
    }

    let beginning: Beginning
    let world: World
    /// What each URL's image was sent for; a `304` does not count.
    let sent: Tally
    /// Images that the run downloads.
    let newer: Set<Digest>

    private static let icons = ["Stays", "Changes", "Goes"]
    private static let later = "Changed"

    /// Makes the beginning.
    static func with(
        _ beginning: Beginning, _ body: @escaping @Sendable (PublicationCycle) async throws -> Void
    ) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let cycle = PublicationCycle(
                beginning: beginning, world: world, sent: Tally(),
                newer: [.of(IconDrawing(later).png()), .of(IconDrawing("Comes").png())])
            let hasChanged = Atomic(false)
            for name in icons + ["Comes"] {
                world.origin.respond(to: TestOrigin.iconPath(name)) { request in
                    let isOther = name == "Changes" && hasChanged.load(ordering: .relaxed)
                    var reply = OriginReply.icon(IconDrawing(isOther ? later : name))
                    if name == "Changes" { reply.headers.append(("Cache-Control", "max-age=0")) }
                    reply = reply.revalidated(for: request)
                    if reply.status == 200 { cycle.sent.add(world.origin.baseURL + request.path) }
                    return reply
                }
            }
            if beginning != .nothing {
                try world.drop(icons)
                let world = world.setting("SYNCAGENT_REFRESH_MINIMUM", "1s")
                let first = try await world.agent.call("run", "--once")
                guard first.code == 0 else { throw Tool.Failure(description: first.messages) }
                try await cycle.keep()
            }
            hasChanged.store(true, ordering: .relaxed)
            try world.drop(["Stays", "Changes", "Comes"])
            // What is there is fresh for a second at least.
            let changing = world.origin.iconURL("Changes")
            repeat {
                try await cycle.restore()
                _ = try await world.agent.call("run", "--once")
            } while beginning != .nothing && cycle.sent.count(of: changing) == 1
            if beginning == .interrupted {
                try await cycle.restore()
                let point = FaultPoint("renameat", on: CacheLayout.manifest, in: world.agent.cache, number: 1)
                let killed = try await cycle.run(tracedBy: Fault.kill.options(at: point))
                guard killed.isFaulty else { throw Tool.Failure(description: "it was not killed at \(point)") }
                try await cycle.keep()
            }
            try await body(cycle)
        }
    }

    private var kept: FilePath { world.folder.appending("kept") }
    private var folders: [FilePath] { [world.agent.cache, world.folder.appending("state")] }

    /// Makes what there is the beginning.
    private func keep() async throws {
        try await Tool.run("rm", "-rf", kept.string)
        try await Tool.run("mkdir", kept.string)
        for folder in folders { try await Tool.run("cp", "-a", folder.string, kept.string) }
    }

    /// Puts back what there was at the beginning.
    func restore() async throws {
        for folder in folders {
            try await Tool.run("rm", "-rf", folder.string)
            if beginning != .nothing {
                try await Tool.run("cp", "-a", kept.appending(folder.lastComponent?.string ?? "").string, folder.string)
            }
        }
    }

    /// Runs the agent once under strace.
    func run(tracedBy options: [String]) async throws -> Result {
        let log = world.folder.appending("trace")
        let agent = try world.traced(by: options, log: log)
        let run = try await agent.call("run", "--once", "--log-level", "warning")
        let text = String(decoding: try FileBytes.read(log), as: UTF8.self)
        let lines = text.split(separator: "\n")
        return Result(
            code: run.code, messages: run.messages,
            trace: lines.filter { $0.contains(world.folder.string) }.compactMap(TracedCall.init),
            isFaulty: run.code == 128 + SIGKILL || text.contains("(INJECTED)"))
    }
}
