// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("The reconciler in a world in which anything happens")
struct ReconcilerModelTests {
    @Test("every promise is kept after every step, and all comes to rest", arguments: 0..<200)
    func anythingHappens(seed: Int) {
        live(SimulatedWorld(seed: UInt64(seed)), seed)
    }

    @Test("the same where images are rendered in other sizes", arguments: 0..<100)
    func anythingIsRendered(seed: Int) {
        live(SimulatedWorld(seed: UInt64(seed), renders: true), seed)
    }

    private func live(_ world: consuming SimulatedWorld, _ seed: Int) {
        var world = world
        do {
            for _ in 0..<300 { try world.step() }
            try world.settle()
        } catch {
            let log = world.log.suffix(40).joined(separator: "\n")
            Issue.record("seed \(seed): \(error), after\n\(log)")
        }
    }
}
