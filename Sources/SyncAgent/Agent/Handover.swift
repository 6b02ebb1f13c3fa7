// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value on its way from one owner to the next, which the first one does not keep alive.
package final class Handover<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: Value) {
        self.value = Mutex(value)
    }

    /// Takes the value; `nil` if it was taken before.
    package func take() -> Value? { value.withLock { $0.take() } }
}
