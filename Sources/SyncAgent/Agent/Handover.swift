// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Passes a value to a new owner without keeping it alive.
package final class Handover<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: Value) {
        self.value = Mutex(value)
    }

    package func take() -> Value? { value.withLock { $0.take() } }
}
