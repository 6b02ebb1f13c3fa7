// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

@Suite("What file descriptors are enough for")
struct DescriptorBudgetTests {
    @Test("fewer than 64 are too few", arguments: [Int.min, -1, 0, 3, 24, 32, 63])
    func tooFew(available: Int) {
        #expect(DescriptorBudget(available: available, concurrency: 32, processors: 2) == nil)
    }

    @Test(
        "with few of them there are fewer downloads, clients, folders and threads",
        arguments: [
            (64, 2, [4, 5, 5, 2]), (64, 64, [4, 5, 5, 2]), (128, 2, [14, 21, 21, 2]), (256, 2, [32, 53, 53, 2]),
            (256, 64, [32, 49, 49, 8]), (1024, 64, [32, 223, 223, 32]), (65_536, 2, [32, 1024, 300, 2]),
        ])
    func few(available: Int, processors: Int, expected: [Int]) throws {
        let budget = try #require(DescriptorBudget(available: available, concurrency: 32, processors: processors))
        #expect([budget.downloads, budget.clients, budget.folders, budget.eventLoops] == expected)
    }

    @Test("what may be open at once is never more than there is", arguments: 64...4096)
    func sum(available: Int) throws {
        for processors in [1, 4, 256] {
            let budget = try #require(
                DescriptorBudget(available: available, concurrency: 1000, processors: processors))
            #expect(budget.downloads > 0 && budget.clients > 0 && budget.folders > 0 && budget.eventLoops > 0)
            #expect(3 * budget.downloads + budget.clients + budget.folders + 3 * budget.eventLoops + 36 <= available)
        }
    }

    @Test("connections that nothing is asked over are kept where there is room for them")
    func idle() {
        let times = [64, 1023, 1024, 16_383, 16_384].map {
            DescriptorBudget(available: $0, concurrency: 32, processors: 2)?.idleTime
        }
        #expect(times == [.milliseconds(10), .milliseconds(10), .seconds(1), .seconds(1), .seconds(60)])
    }
}
