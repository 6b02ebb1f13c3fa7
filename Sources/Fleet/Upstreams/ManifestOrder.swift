// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Which of two manifests is newer: whether one may take the place of the other at an upstream, and be accepted after it.
package enum ManifestOrder: Equatable, Sendable {
    /// When a manifest was published, and its number.
    ///
    /// An agent whose cache and state were removed begins with generation 1 again: the time counts first.
    package typealias Edition = (published: Timestamp, generation: Int)

    /// Both are the same manifest.
    case same
    case newer
    case older
    /// They differ, and have the same moment and number.
    case conflict

    /// - Parameters:
    ///   - new: The manifest that may take the place of the other one.
    ///   - old: The other one.
    ///   - isSameText: Whether both have the same bytes.
    package init(_ new: Edition, after old: Edition, isSameText: Bool) {
        self = isSameText ? .same : new == old ? .conflict : new < old ? .older : .newer
    }
}
