// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import AgentServer

@Suite("Bounds of the control server", .timeLimit(.minutes(1)))
struct ControlBoundsTests {
    @Test("thousands of requests at once are all answered, by as many connections as there may be")
    func crowd() async throws {
        try await ControlWorld.with { world in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<64 {
                    group.addTask {
                        for _ in 0..<40 {
                            if (try? await world.client.status()) != nil { _ = counter.next() }
                        }
                    }
                }
            }
            #expect(counter.last == 64 * 40)
            let status = try await world.client.status()
            #expect(status != nil)
        }
    }
}
