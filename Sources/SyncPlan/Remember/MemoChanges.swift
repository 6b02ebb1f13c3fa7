// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// What is to be stored, and what is to be deleted, so that a restart finds it.
package struct MemoChanges: Equatable, Sendable {
    package var remembered: [IconMemo]
    /// The URLs of icons that are known no more.
    package var forgotten: [IconURL]
    /// The origins that failed of late.
    package var origins: [OriginMemo] = []
    /// The origins that are well again.
    package var forgottenOrigins: [String] = []
    /// The lists that need not be parsed again as long as they are as they were.
    package var lists: [ListMemo] = []
    /// The lists that are gone, or of which there is more to tell.
    package var forgottenLists: [ListName] = []
    /// What events have told of lists whose files are not accepted.
    package var rejections: [RejectionMemo] = []
    /// The lists that are accepted, or gone.
    package var forgottenRejections: [ListName] = []
    /// When generations were superseded, by the clock of this run.
    package var superseded: [Int: Timestamp] = [:]
    /// The generations that are on disk no more.
    package var released: [Int] = []
    /// All single values, if one of them has changed.
    package var values: RememberedValues?

    package init(remembered: [IconMemo] = [], forgotten: [IconURL] = []) {
        self.remembered = remembered
        self.forgotten = forgotten
    }

    package var isEmpty: Bool { self == MemoChanges() }

    /// Adds what is to be remembered and forgotten later, in place of what earlier memos say of the same.
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

    /// Takes later changes in, so that all of them can be stored at once.
    package mutating func append(_ later: MemoChanges) {
        Self.append(later.remembered, later.forgotten, to: &remembered, &forgotten, by: \.url)
        Self.append(later.origins, later.forgottenOrigins, to: &origins, &forgottenOrigins, by: \.origin)
        Self.append(later.lists, later.forgottenLists, to: &lists, &forgottenLists, by: \.list)
        Self.append(later.rejections, later.forgottenRejections, to: &rejections, &forgottenRejections, by: \.list)
        superseded.merge(later.superseded) { $1 }
        for generation in later.released { superseded[generation] = nil }
        released.removeAll { later.superseded[$0] != nil }
        released += later.released
        values = later.values ?? values
    }
}
