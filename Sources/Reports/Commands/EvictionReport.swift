// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The unreferenced icons, and why each is evicted or stays: the output of `syncagent evict --dry-run`.
package struct EvictionReport: Codable, Equatable, Sendable {
    package struct Icon: Codable, Equatable, Sendable {
        package var url: IconURL
        /// The image, relative to the cache folder.
        package var path: String
        package var bytes: Int
        /// Whether `syncagent evict` removes the icon's image.
        package var goes: Bool
        /// Why the image stays, or when it would be evicted without the command.
        package var reason: String
        /// The newest superseded generation that names the icon.
        package var generation: Int?

        package init(url: IconURL, path: String, bytes: Int, goes: Bool, reason: String, generation: Int? = nil) {
            (self.url, self.path, self.bytes, self.goes, self.reason, self.generation) = (
                url, path, bytes, goes, reason, generation
            )
        }
    }

    package struct Lease: Codable, Equatable, Sendable {
        package var generation: Int
        package var pids: [Int]

        package init(generation: Int, pids: [Int]) {
            (self.generation, self.pids) = (generation, pids)
        }
    }

    /// Why the image of an unreferenced URL stays.
    package static let shownReason = "apps in lists show the same image, for another URL"

    package var state: Word<StatusReport.Eviction.State>
    /// Why nothing is evicted at the moment; `nil` if eviction is active.
    package var reason: String?
    package var icons: [Icon]
    package var leases: [Lease] = []
    /// Whether everything that can be evicted now has been removed.
    package var isSettled: Bool
    /// The number of retired renditions, including those whose icons are not retired.
    package var renditions = 0
    /// The number of retired images that icons had before another one; `nil` from an agent of an older version.
    package var replaced: Int?

    /// The retired images that are not those of retired icons, in words; empty if there are none.
    package var others: [String] {
        [(replaced ?? 0, "replaced image"), (renditions, "rendition")].filter { $0.0 > 0 }.map { counted($0, $1) }
    }

    package init(
        state: Word<StatusReport.Eviction.State>, reason: String? = nil, icons: [Icon], leases: [Lease] = [],
        isSettled: Bool
    ) {
        (self.state, self.reason, self.icons, self.leases, self.isSettled) = (state, reason, icons, leases, isSettled)
    }

    package var json: JSON { .document(self, lines: ["icons"]) }
}
