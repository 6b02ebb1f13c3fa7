// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("A gate and a tally")
struct GateTests {
    @Test("an open gate lets all waiting tasks through, and all that come later")
    func opening() async throws {
        let gate = Gate()
        let arrivals = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    arrivals.add("before")
                    try await gate.wait()
                    arrivals.add("after")
                }
            }
            try await arrivals.reach(10, of: "before")
            #expect(arrivals.count(of: "after") == 0)
            gate.open()
            try await arrivals.reach(20)
            try await group.waitForAll()
        }
        gate.open()
        try await gate.wait()
    }

    @Test("a gate and a tally release cancelled tasks")
    func cancellation() async throws {
        let gate = Gate()
        let tally = Tally()
        for wait in [{ try await gate.wait() }, { try await tally.reach(1) }] as [@Sendable () async throws -> Void] {
            let task = Task {
                _ = await #expect(throws: CancellationError.self) { try await wait() }
            }
            task.cancel()
            await task.value
        }
        #expect(tally.add("later") == 1)
    }
}
