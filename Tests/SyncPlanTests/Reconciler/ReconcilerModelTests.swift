// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

/// `MODEL_WORLDS` in the environment is how many worlds there are.
///
/// What happens also depends on the order of hashed collections, which is another one in each run.
@Suite("The reconciler in a world in which anything happens")
struct ReconcilerModelTests {
    private static let worlds = ProcessInfo.processInfo.environment["MODEL_WORLDS"].flatMap { Int($0) } ?? 40

    @Test("every promise is kept after every step, and all comes to rest", arguments: 0..<worlds)
    func anythingHappens(seed: Int) {
        live(SimulatedWorld(seed: UInt64(seed)), seed)
    }

    @Test(
        "every promise is kept after every step where images are rendered, and all comes to rest",
        arguments: 0..<worlds / 2)
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
