// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The changes of stored memos: those to write, and the keys of those to delete.
///
/// In a dictionary, a memo to be deleted is `nil`; icons whose memos are to be deleted are in ``forgotten``.
package struct MemoChanges: Equatable, Sendable {
    package var remembered: [IconMemo]
    package var forgotten: [IconURL]
    /// Origins that failed recently, or recovered.
    package var origins: [String: OriginMemo?] = [:]
    /// Lists that need not be parsed again while their files are unchanged; `nil` for others, and for removed ones.
    package var lists: [ListName: ListMemo?] = [:]
    /// Reported rejections of lists; `nil` for lists that are accepted again, or removed.
    package var rejections: [ListName: RejectionMemo?] = [:]
    /// Images that could not be rendered; `nil` for those that may be tried again, or are removed.
    package var renderFailures: [Digest: RenderMemo?] = [:]
    /// When generations were superseded, by the clock of this run; `nil` for those no longer on disk.
    package var superseded: [Int: Timestamp?] = [:]
    /// All single values, if any of them changed.
    package var values: RememberedValues?

    package init(remembered: [IconMemo] = [], forgotten: [IconURL] = []) {
        (self.remembered, self.forgotten) = (remembered, forgotten)
    }

    package var isEmpty: Bool { self == MemoChanges() }

    /// Merges later changes, which replace earlier ones with the same key, so that all can be stored at once.
    package mutating func append(_ later: MemoChanges) {
        let urls = Set(later.remembered.map(\.url) + later.forgotten)
        remembered.removeAll { urls.contains($0.url) }
        forgotten.removeAll(where: urls.contains)
        remembered += later.remembered
        forgotten += later.forgotten
        origins.merge(later.origins) { $1 }
        lists.merge(later.lists) { $1 }
        rejections.merge(later.rejections) { $1 }
        renderFailures.merge(later.renderFailures) { $1 }
        superseded.merge(later.superseded) { $1 }
        values = later.values ?? values
    }
}
