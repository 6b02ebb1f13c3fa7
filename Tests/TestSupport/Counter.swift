// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts from several tasks.
package final class Counter: Sendable {
    private let number = Mutex(0)

    package init() {}

    package var last: Int { number.withLock(\.self) }

    package func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
