// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The order of two manifests: only a newer one may replace the other at an upstream, or be accepted after it.
package enum ManifestOrder: Equatable, Sendable {
    /// The time of a manifest's publication, and its generation.
    ///
    /// The time is compared first: an agent whose cache and state were removed starts again with generation 1.
    package typealias Edition = (published: Timestamp, generation: Int)

    case same
    case newer
    case older
    /// The manifests differ, but have the same time and generation.
    case conflict

    package init(_ new: Edition, after old: Edition, isSameText: Bool) {
        self = isSameText ? .same : new == old ? .conflict : new < old ? .older : .newer
    }
}
