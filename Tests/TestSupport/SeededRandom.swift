// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// Random numbers that a seed determines, so that a test that fails can be repeated.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    package mutating func next() -> UInt64 { generator.next() }
}
