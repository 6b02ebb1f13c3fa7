// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// An optional value that is kept apart from what it belongs to, so that there is room for it only where there is one.
@propertyWrapper
package struct Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
    private indirect enum Box: Equatable, Sendable {
        case empty
        case full(Value)
    }

    private var box: Box

    package init(wrappedValue: Value?) {
        box = wrappedValue.map(Box.full) ?? .empty
    }

    /// Whether there is a value, which need not be taken out of its box for this.
    var isFull: Bool { if case .full = box { true } else { false } }

    package var wrappedValue: Value? {
        get { if case .full(let value) = box { value } else { nil } }
        set { box = newValue.map(Box.full) ?? .empty }
    }
}

extension Boxed<AppListDocument.Image> {
    /// That of the image in the box, the rest of which stays there.
    var digest: Digest? { if case .full(let image) = box { image.sha256 } else { nil } }
}
