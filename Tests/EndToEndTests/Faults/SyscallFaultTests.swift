// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Faults at the calls of a publication and of an eviction.
///
/// `FAULT_POINTS` in the environment is the largest number of calls that each kind of fault is put at; without it they are
/// few, and other ones each time.
@Suite(
    "Faults of calls", .timeLimit(.minutes(15)), .serialized,
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct SyscallFaultTests {
    /// Which faults are put where.
    private struct Sweep {
        var fault: Fault
        /// At how many calls, unless the environment says so.
        var sample: Int
        var calls: String
        /// Whether it is put at calls of the start, and at those that follow.
        var isOfStart = true
        var isOfCycle = true
        var isWanted: (TracedCall) -> Bool
    }

    private static var sweeps: [Sweep] {
        [
            Sweep(fault: .kill, sample: 2, calls: "changes") { $0.isChange },
            Sweep(fault: .error("EIO"), sample: 2, calls: "changes") { $0.isChange },
            Sweep(fault: .error("ENOSPC"), sample: 1, calls: "changes") { $0.takesSpace },
            Sweep(fault: .error("EIO"), sample: 1, calls: "other calls", isOfStart: false) { !$0.isChange },
            Sweep(fault: .error("EIO"), sample: 1, calls: "other calls of the start", isOfCycle: false) {
                !$0.isChange
            },
        ]
    }

    @Test(
        "a failed or killed call leaves the manifest whole, is said, and the next run completes the sync",
        arguments: PublicationCycle.Beginning.allCases)
    func sweep(from beginning: PublicationCycle.Beginning) async throws {
        try await PublicationCycle.with(beginning) { cycle in
            try await cycle.restore()
            let whole = try await cycle.run(tracedBy: ["-e", "trace=\(TracedCall.changing.joined(separator: ","))"])
            try #require(whole.code == 0, "\(whole.messages)")
            let end = CacheCheck(cycle.world.agent.cache)
            let wrong = try end.damages + end.strays()
            try #require(wrong.isEmpty)

            // The start ends with its flush.
            let start = try #require(whole.trace.firstIndex { $0.name == "syncfs" })
            for sweep in Self.sweeps {
                var met: [String: Int] = [:]
                let (points, calls) = FaultPoint.all(in: whole.trace) { index, call in
                    guard sweep.isWanted(call) else { return false }
                    guard index < start else { return sweep.isOfCycle }
                    // It makes the same calls in hundreds of folders, and opens the one that they are in each time.
                    met[call.kind, default: 0] += 1
                    return sweep.isOfStart && met[call.kind, default: 0] <= 2
                }
                let chosen = points.shuffled().prefix(environmentNumber("FAULT_POINTS") ?? sweep.sample)
                var count = 0
                for point in chosen {
                    let found = try await cycle.consequences(of: sweep.fault, at: point, end: end)
                    if found.isFaulty { count += 1 }
                    #expect(found.problems.isEmpty, "\(sweep.fault) at \(point)")
                }
                print(
                    "From \(beginning): \(sweep.fault) at \(chosen.count) of \(points.count) points, which came about"
                        + " \(count) times; \(calls) \(sweep.calls)")
            }
        }
    }
}
