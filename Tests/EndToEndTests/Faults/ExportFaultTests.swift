// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// An export that is killed, or whose calls fail, at each of its steps.
///
/// `FAULT_POINTS` in the environment is the largest number of calls that each kind of fault is put at; without it they
/// are few, and other ones each time.
@Suite(
    "Faults of an export", .timeLimit(.minutes(15)), .serialized,
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct ExportFaultTests {
    @Test(
        "a failed or killed export leaves the old or the new generation, whole and signed, and the next one completes",
        arguments: [true, false])
    func sweep(isFirst: Bool) async throws {
        try await World.with { world in
            let cycle = ExportCycle(world: world, key: try await ExportCommandTests.makeKey(in: world))
            try world.drop(["Stays", "Goes"])
            try await cycle.sync()
            if !isFirst { try await cycle.exportWhole() }
            try await cycle.keep()
            try world.drop(["Stays", "Comes", "Later"])
            try await cycle.sync()

            let whole = try await cycle.run(tracedBy: ["-e", "trace=\(TracedCall.changing.joined(separator: ","))"])
            try #require(whole.code == 0, "\(whole.messages)")
            try #require(cycle.problems(isWhole: true).isEmpty)
            for (fault, sample) in [(Fault.kill, 3), (.error("EIO"), 2), (.error("ENOSPC"), 1)] {
                let (points, calls) = FaultPoint.all(in: whole.trace) { _, call in
                    guard case .error("ENOSPC") = fault else { return call.isChange && call.path.contains("/export") }
                    return call.takesSpace && call.path.contains("/export")
                }
                #expect(points.count > 10)
                var count = 0
                let chosen = points.shuffled().prefix(environmentNumber("FAULT_POINTS") ?? sample)
                for point in chosen {
                    try await cycle.restore()
                    let faulty = try await cycle.run(tracedBy: fault.options(at: point))
                    guard faulty.isFaulty else { continue }
                    count += 1
                    var problems = try cycle.problems(isWhole: faulty.code == 0)
                    if case .error = fault, ![0, 73].contains(faulty.code) {
                        problems.append("it ended with \(faulty.code): \(faulty.messages)")
                    }
                    let next = try await world.agent.call(cycle.command)
                    if next.code != 0 { problems.append("the next ended with \(next.code): \(next.messages)") }
                    problems += try cycle.problems(isWhole: true)
                    #expect(problems.isEmpty, "\(fault) at \(point)")
                }
                print(
                    "\(fault) at \(chosen.count) of \(points.count) points of an export, \(count) came about; \(calls) calls"
                )
            }
        }
    }
}

/// An export from the same beginning again and again.
private struct ExportCycle {
    let world: World
    let key: (path: String, line: String)

    var target: FilePath { world.folder.appending("export") }
    private var kept: FilePath { world.folder.appending("kept") }
    var command: [String] { ["export", target.string, "--sign", key.path] }

    func sync() async throws {
        let once = try await world.agent.call("run", "--once")
        try #require(once.code == 0, "\(once.messages)")
    }

    func exportWhole() async throws {
        let export = try await world.agent.call(command)
        try #require(export.code == 0, "\(export.messages)")
    }

    /// Makes what there is at the target the beginning.
    func keep() async throws {
        if access(target.string, F_OK) == 0 { try await Tool.run("cp", "-a", target.string, kept.string) }
    }

    func restore() async throws {
        try await Tool.run("rm", "-rf", target.string)
        if access(kept.string, F_OK) == 0 { try await Tool.run("cp", "-a", kept.string, target.string) }
    }

    func run(tracedBy options: [String]) async throws -> PublicationCycle.Result {
        let log = world.folder.appending("trace")
        let run = try await world.traced(by: options, log: log).call(command)
        let text = String(decoding: try FileBytes.read(log), as: UTF8.self)
        return PublicationCycle.Result(
            code: run.code, messages: run.messages,
            trace: text.split(separator: "\n").filter { $0.contains(world.folder.string) }.compactMap(TracedCall.init),
            isFaulty: run.code == 128 + SIGKILL || text.contains("(INJECTED)"))
    }

    /// What is not as it should be at the target.
    func problems(isWhole: Bool) throws -> [String] {
        let check = UpstreamCheck(target)
        var problems = check.damages
        let newest = try IconCache(at: world.agent.cache).manifest()
        if isWhole, check.manifest != newest { problems.append("it is not the newest generation") }
        let before = UpstreamCheck(kept).manifest
        guard let manifest = check.manifest else { return problems + (before == nil ? [] : ["the manifest is gone"]) }
        if manifest != newest, manifest != before { problems.append("generation \(manifest.generation)") }
        do {
            try ExportCommandTests.verifySignature(at: target, by: key.line)
        } catch {
            problems.append("its signature: \(error)")
        }
        if isWhole {
            let temporary = try files(in: target).filter { $0.hasSuffix(".new") }
            problems += temporary.map { "\($0) is left" }
        }
        return problems
    }
}
