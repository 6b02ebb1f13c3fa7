// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("Answers shared by callers at the same time")
struct SharedAnswerTests {
    @Test(
        "callers that come while an answer is made share the next one, and get none that was begun before"
    )
    func sharing() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Int.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let made = Counter()
        let answer = SharedAnswer {
            let number = made.next()
            begin.yield(number)
            for await _ in gate { break }
            return number
        }
        var began = begun.makeAsyncIterator()
        async let first = answer.get()
        #expect(await began.next() == 1)
        let others = (0..<50).map { _ in Task { @MainActor in await answer.get() } }
        // The main actor gets here when all of them wait.
        await MainActor.run {}
        open.yield()
        #expect(await first == 1)
        open.yield()
        open.finish()
        var numbers: Set<Int> = []
        for other in others { numbers.insert(await other.value) }
        #expect(numbers.allSatisfy { $0 > 1 } && numbers.count <= 2, "\(numbers)")
    }

    @Test("a caller that asks after a change sees it")
    func order() async {
        let value = Counter()
        let answer = SharedAnswer { value.last }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        let mine = value.next()
                        #expect(await answer.get() >= mine)
                    }
                }
            }
        }
    }
}
