// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("The reconciler in a world in which anything happens")
struct ReconcilerModelTests {
    @Test("every promise is kept after every step, and all comes to rest", arguments: 0..<200)
    func anythingHappens(seed: Int) {
        var world = SimulatedWorld(seed: UInt64(seed))
        do {
            for _ in 0..<300 { try world.step() }
            try world.settle()
        } catch {
            let log = world.log.suffix(40).joined(separator: "\n")
            Issue.record("seed \(seed): \(error), after\n\(log)")
        }
    }
}
