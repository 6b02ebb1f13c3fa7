// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import AgentServer

@Suite("Many clients of the control server", .timeLimit(.minutes(5)))
struct ControlBoundsTests {
    @Test("hundreds of requests from more clients than there are seats are all answered")
    func crowd() async throws {
        try await ControlWorld.with { world in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<32 {
                    group.addTask {
                        for _ in 0..<10 {
                            if (try? await world.client.status()) != nil { _ = counter.next() }
                        }
                    }
                }
            }
            #expect(counter.last == 32 * 10)
            let status = try await world.client.status()
            #expect(status != nil)
        }
    }
}
