// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet

/// A memo that is stored as JSON.
///
/// Property names are stored, also nested ones: a renamed property needs coding keys.
package protocol StoredMemo: Codable {
    /// Whether an agent can have written the memo; checked on reading.
    var isPossible: Bool { get }
}

/// The plausible range of counts.
private let counts = 0...1_000_000_000

extension StoredMemo {
    package var isPossible: Bool { true }
}

extension ListMemo: StoredMemo {}
extension RejectionMemo: StoredMemo {}
extension RenderMemo: StoredMemo {}

extension OriginMemo: StoredMemo {
    package var isPossible: Bool { counts.contains(health.failures) }
}

extension RememberedValues: StoredMemo {
    /// The longest handle of a folder, in bytes (`MAX_HANDLE_SZ` is 128).
    private static let longestHandle = 1024

    package var isPossible: Bool {
        let generations =
            [purged, purging].compactMap(\.self) + holds.map(\.generation) + upstreams.map(\.generation)
        return (newestGeneration == 0 || CacheLayout.generationNumbers.contains(newestGeneration))
            && generations.allSatisfy(CacheLayout.generationNumbers.contains)
            && holds.allSatisfy { counts.contains($0.images) && counts.contains($0.total) }
            && folder?.handle.count ?? 0 <= Self.longestHandle
    }
}
