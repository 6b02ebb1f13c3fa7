// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

/// `MODEL_WORLDS` in the environment is how many worlds there are, and `MODEL_SEED` the seed of the only one, all of
/// whose steps are shown if it fails.
///
/// What happens also depends on the order of hashed collections, which is another one in each run.
@Suite("The reconciler in a world in which anything happens")
struct ReconcilerModelTests {
    private static let worlds = number("MODEL_WORLDS") ?? 40
    private static let seed = number("MODEL_SEED")

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    private static func seeds(of worlds: Int) -> Range<Int> { seed.map { $0..<$0 + 1 } ?? 0..<worlds }

    @Test("every promise is kept after every step, and all comes to rest", arguments: seeds(of: worlds))
    func anythingHappens(seed: Int) {
        live(SimulatedWorld(seed: UInt64(seed)), seed)
    }

    @Test(
        "every promise is kept after every step where images are rendered, and all comes to rest",
        arguments: seeds(of: worlds / 2))
    func anythingIsRendered(seed: Int) {
        live(SimulatedWorld(seed: UInt64(seed), renders: true), seed)
    }

    private func live(_ world: consuming SimulatedWorld, _ seed: Int) {
        var world = world
        do {
            for _ in 0..<300 { try world.step() }
            try world.settle()
        } catch {
            let log = world.log.suffix(Self.seed == nil ? 40 : .max).joined(separator: "\n")
            Issue.record("seed \(seed): \(error), after\n\(log)")
        }
    }
}
