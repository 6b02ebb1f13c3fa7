// SPDX-License-Identifier: Apache-2.0

/// An optional value in a box of its own, so that `nil` takes little room.
@propertyWrapper
package struct Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
    private indirect enum Box: Equatable, Sendable {
        case empty
        case full(Value)
    }

    private var box: Box

    package init(wrappedValue: Value?) { box = wrappedValue.map(Box.full) ?? .empty }

    /// Whether there is a value; does not copy it.
    var isFull: Bool { if case .full = box { true } else { false } }

    package var wrappedValue: Value? {
        get { if case .full(let value) = box { value } else { nil } }
        set { box = newValue.map(Box.full) ?? .empty }
    }
}
