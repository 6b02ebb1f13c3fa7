// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Which of two manifests is newer, so that it may replace the other at an upstream and be accepted after it.
package enum ManifestOrder: Equatable, Sendable {
    /// When a manifest was published, and its generation.
    ///
    /// The time counts first: an agent whose cache and state were removed starts again with generation 1.
    package typealias Edition = (published: Timestamp, generation: Int)

    case same
    case newer
    case older
    /// They differ, but have the same time and generation.
    case conflict

    package init(_ new: Edition, after old: Edition, isSameText: Bool) {
        self = isSameText ? .same : new == old ? .conflict : new < old ? .older : .newer
    }
}
