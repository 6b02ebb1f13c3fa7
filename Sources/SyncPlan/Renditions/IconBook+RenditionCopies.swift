// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet

// Renditions that are copied from upstreams.
extension IconBook {
    /// Whether copies are unsigned: whoever sends them could choose the renditions of images whose digests lists give.
    private var areCopiesUnsigned: Bool {
        (renditions.isOn || !renditions.records.isEmpty) && !sources.isEmpty && settings.upstream.publicKeys.isEmpty
    }

    /// Refuses copies for the images whose digests lists give, and for no others, because the settings or many lists
    /// changed; renditions that are there stay.
    mutating func reviewCopies() {
        renditions.copyRefusals.beginReview()
        for name in catalog.lists.keys { refuseCopies(for: name, mayBeCopied: false) }
        renditions.copyRefusals.endReview()
    }

    /// Refuses unsigned copies for the images whose digests a list gives, and for the images that its apps show meanwhile.
    ///
    /// The renditions of these images may be copies already (`mayBeCopied`), or not.
    private mutating func refuseCopies(for list: ListName, mayBeCopied: Bool) {
        guard areCopiesUnsigned, let apps = catalog.lists[list]?.apps else { return }
        for (position, icon) in apps.icons.enumerated() {
            guard let digest = apps.details.expected(at: position) else { continue }
            renditions.refuseCopies(of: digest, mayBeCopied: mayBeCopied)
            if let shown = catalog.icons[icon].icon.image ?? apps[past: position].last?.image {
                renditions.refuseCopies(of: catalog.images[shown].key, mayBeCopied: mayBeCopied)
            }
        }
    }

    /// Refuses copies for the images whose digests a new version of a list gives.
    mutating func refuseCopies(for list: ListName) {
        refuseCopies(for: list, mayBeCopied: true)
        // Digests that no list gives any more are not kept for ever.
        if renditions.copyRefusals.isReviewDue { reviewCopies() }
    }

    /// Forgets the renditions that may be copies although a list gives a digest for their original by now.
    mutating func forgetDoubtfulCopies(in turn: inout Turn) {
        let doubtful = renditions.copyRefusals.drainDoubtful()
        guard !doubtful.isEmpty else { return }
        let made = doubtful.flatMap { renditions.records.made(of: $0).values.map(\.sha256) }
        let originals = forgetRenditions(Set(made), in: &turn)
        // In one generation: a restart takes renditions over from any document that has them.
        for list in markLists(whoseRenditionsAreGone: originals, in: &turn) { renewDocument(of: list, at: turn.now) }
    }
}
