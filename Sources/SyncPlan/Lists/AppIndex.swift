// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Where an app is in the lists.
struct AppIndex: Hashable, Comparable {
    let list: ListName
    let position: Int

    static func < (a: AppIndex, b: AppIndex) -> Bool { (a.list, a.position) < (b.list, b.position) }
}
