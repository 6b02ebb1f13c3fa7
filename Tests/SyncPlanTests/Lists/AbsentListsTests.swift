// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Lists that are missing from the folder")
struct AbsentListsTests {
    /// A listing: when it was made, what it lacks, what is gone then, and when to list again, all in milliseconds.
    typealias Step = (at: Int, lacks: Set<ListName>, gone: Set<ListName>, due: Int?)

    @Test(
        "missing lists are gone together after their quiet time, and not before",
        arguments: [
            // The shortest quiet time is half a second.
            (10, 2000, [(0, ["a"], [], 500), (10, ["a"], [], 500), (499, ["a"], [], 500), (500, ["a"], ["a"], nil)]),
            // One that is back begins anew.
            (100, 2000, [(0, ["a"], [], 500), (400, [], [], nil), (600, ["a"], [], 1100), (1100, ["a"], ["a"], nil)]),
            // Each one that vanishes has the others wait, up to the ceiling.
            (
                100, 1000,
                [
                    (0, ["a"], [], 500), (400, ["a", "b"], [], 900), (800, ["a", "b", "c"], [], 1000),
                    (1000, ["a", "b", "c"], ["a", "b"], 1300), (1300, ["c"], ["c"], nil),
                ]
            ),
            (3000, 2000, [(0, ["a"], [], 2000), (1999, ["a"], [], 2000), (2000, ["a"], ["a"], nil)]),
            (800, 100, [(0, ["a"], [], 500), (500, ["a"], ["a"], nil)]),
            (0, 0, [(0, ["a"], [], 500), (500, ["a"], ["a"], nil)]),
        ] as [(Int, Int, [Step])])
    func quiet(settle: Int, settleMax: Int, steps: [Step]) {
        var absent = AbsentLists(settle: .milliseconds(settle), settleMax: .milliseconds(settleMax))
        for step in steps {
            let gone = absent.record(step.lacks, at: Sample.start + .milliseconds(step.at))
            #expect(gone == step.gone && absent.due == step.due.map { Sample.start + .milliseconds($0) }, "\(step)")
            #expect(absent.names == step.lacks.subtracting(gone) && absent.isEmpty == absent.names.isEmpty)
        }
    }

    @Test("missing lists are forgotten if a scan says nothing about them")
    func reset() {
        var absent = AbsentLists(settle: .zero, settleMax: .zero)
        _ = absent.record(["a"], at: Sample.start)
        absent.reset()
        #expect(absent.isEmpty && absent.due == nil)
        #expect(absent.record(["a"], at: Sample.start + .seconds(9)) == [])
    }
}
