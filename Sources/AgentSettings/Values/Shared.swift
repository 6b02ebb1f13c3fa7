// SPDX-License-Identifier: Apache-2.0

/// Stores a large value once for all copies of its owner (copy on write).
@propertyWrapper
package struct Shared<Value: Equatable & Sendable>: Equatable, Sendable {
    private final class Storage: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    package init(wrappedValue: Value) {
        storage = Storage(wrappedValue)
    }

    package var wrappedValue: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }

    package var projectedValue: Shared { self }

    package static func == (a: Shared, b: Shared) -> Bool {
        a.storage === b.storage || a.storage.value == b.storage.value
    }
}
