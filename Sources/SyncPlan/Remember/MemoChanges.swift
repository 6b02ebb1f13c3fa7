// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The changes of stored memos: those to write, and the keys of those to delete.
package struct MemoChanges: Equatable, Sendable {
    package var remembered: [IconMemo]
    package var forgotten: [IconURL]
    /// Origins that failed recently.
    package var origins: [OriginMemo] = []
    /// Origins that recovered.
    package var forgottenOrigins: [String] = []
    /// Lists that need not be parsed again while their files are unchanged.
    package var lists: [ListMemo] = []
    /// Lists that were removed, or must be parsed again.
    package var forgottenLists: [ListName] = []
    /// Reported rejections of lists.
    package var rejections: [RejectionMemo] = []
    /// Lists that are accepted again, or were removed.
    package var forgottenRejections: [ListName] = []
    /// Images that could not be rendered.
    package var renderFailures: [RenderMemo] = []
    /// Images that can be rendered again, or were removed.
    package var forgottenRenderFailures: [Digest] = []
    /// When generations were superseded, by the clock of this run.
    package var superseded: [Int: Timestamp] = [:]
    /// Generations no longer on disk.
    package var released: [Int] = []
    /// All single values, if any of them changed.
    package var values: RememberedValues?

    package init(remembered: [IconMemo] = [], forgotten: [IconURL] = []) {
        (self.remembered, self.forgotten) = (remembered, forgotten)
    }

    package var isEmpty: Bool { self == MemoChanges() }

    /// Appends later memos and deletions, which replace earlier ones with the same key.
    private static func append<Memo, Key: Hashable>(
        _ laterMemos: [Memo], _ laterForgotten: [Key], to memos: inout [Memo], _ forgotten: inout [Key],
        by key: KeyPath<Memo, Key>
    ) {
        let keys = Set(laterMemos.map { $0[keyPath: key] } + laterForgotten)
        memos.removeAll { keys.contains($0[keyPath: key]) }
        forgotten.removeAll(where: keys.contains)
        memos += laterMemos
        forgotten += laterForgotten
    }

    /// Merges later changes, so that all can be stored at once.
    package mutating func append(_ later: MemoChanges) {
        Self.append(later.remembered, later.forgotten, to: &remembered, &forgotten, by: \.url)
        Self.append(later.origins, later.forgottenOrigins, to: &origins, &forgottenOrigins, by: \.origin)
        Self.append(later.lists, later.forgottenLists, to: &lists, &forgottenLists, by: \.list)
        Self.append(later.rejections, later.forgottenRejections, to: &rejections, &forgottenRejections, by: \.list)
        Self.append(
            later.renderFailures, later.forgottenRenderFailures, to: &renderFailures, &forgottenRenderFailures,
            by: \.image)
        superseded.merge(later.superseded) { $1 }
        for generation in later.released { superseded[generation] = nil }
        released.removeAll { later.superseded[$0] != nil }
        released += later.released
        values = later.values ?? values
    }
}
