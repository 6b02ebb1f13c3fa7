// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import SyncAgent

@Suite("Probes of the agent's parts", .timeLimit(.minutes(5)))
struct ProbeTests {
    @Test("a part that hangs is asked once; once it has answered, it is asked again")
    func hung() async {
        let questions = Mutex<[Milestone]>([])
        let probe = Probe { answer in questions.withLock { $0.append(answer) } }
        #expect(probe.isAnswered)
        for _ in 0..<3 { #expect(await !probe.isAnswered(within: .milliseconds(1))) }
        #expect(!probe.isAnswered && questions.withLock(\.count) == 1)
        questions.withLock { $0[0].reach() }
        await probe.waitForAnswer()
        #expect(probe.isAnswered)
        probe.ask()
        #expect(!probe.isAnswered && questions.withLock(\.count) == 2)
    }

    @Test("a part that answers at once responds")
    func idle() async {
        #expect(await Probe { $0.reach() }.isAnswered(within: .seconds(60)))
    }
}
