import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("The budget of file descriptors")
struct DescriptorBudgetTests {
    @Test("fewer than 64 file descriptors are too few", arguments: [Int.min, -1, 0, 3, 24, 32, 63])
    func tooFew(available: Int) {
        #expect(DescriptorBudget(available: available, concurrency: 32, processors: 2, addresses: 4) == nil)
    }

    @Test(
        "few file descriptors reduce downloads, clients, folders and threads",
        arguments: [
            (64, 2, [4, 5, 0, 5, 2]), (64, 64, [4, 5, 0, 5, 2]), (105, 2, [11, 15, 0, 15, 2]),
            (106, 2, [5, 16, 2, 16, 2]), (128, 2, [9, 21, 2, 21, 2]), (256, 2, [23, 53, 6, 53, 2]),
            (256, 64, [19, 49, 6, 49, 8]), (1024, 64, [32, 223, 27, 223, 32]), (65_536, 2, [32, 256, 64, 520, 2]),
        ])
    func few(available: Int, processors: Int, expected: [Int]) throws {
        let budget = try #require(
            DescriptorBudget(available: available, concurrency: 32, processors: processors, addresses: 3))
        #expect(
            [budget.downloads, budget.clients, budget.webClients, budget.folders, budget.eventLoops] == expected)
    }

    @Test("the budget never exceeds the file descriptors")
    func sum() throws {
        for available in 64...4096 {
            for (processors, addresses) in [(1, 0), (4, 4), (256, 4)] {
                let budget = try #require(
                    DescriptorBudget(
                        available: available, concurrency: 1000, processors: processors, addresses: addresses))
                let web = budget.webClients == 0 ? 0 : addresses * (1 + 2 * budget.webClients)
                let others = budget.clients + web + budget.folders + 3 * budget.eventLoops + 36
                let isWithin = 3 * budget.downloads + others <= available
                let hasAll = min(budget.downloads, budget.clients, budget.folders, budget.eventLoops) > 0
                #expect(isWithin && hasAll, "\(available) file descriptors: \(budget)")
            }
        }
    }

    @Test("idle connections are kept where there are file descriptors for them")
    func idle() {
        let times = [64, 1023, 1024, 16_383, 16_384].map {
            DescriptorBudget(available: $0, concurrency: 32, processors: 2, addresses: 4)?.idleTime
        }
        #expect(times == [.milliseconds(10), .milliseconds(10), .seconds(1), .seconds(1), .seconds(60)])
    }
}
