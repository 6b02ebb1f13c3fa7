// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// What changed since it was stored last, and when that is to be stored.
///
/// It keeps what changed, and not how: what is stored is how things are then.
struct UnstoredChanges: Sendable {
    /// How long changes wait for others to be stored with them.
    private static let delay: Duration = .seconds(1)

    private var icons: Set<IconURL> = []
    private var origins: Set<String> = []
    private var lists: Set<ListName> = []
    /// The lists of which events have told something else.
    private var rejections: Set<ListName> = []
    /// Generations that were superseded, or released.
    private var generations: Set<Int> = []
    /// The single values as they are stored; `nil` if they are to be stored whatever they are.
    private var values: RememberedValues?
    /// When there is something to store; `nil` if nothing has changed.
    private(set) var due: Timestamp?

    // MARK: What changed

    mutating func mark(icon url: IconURL, at now: Timestamp) {
        icons.insert(url)
        markDue(at: now)
    }

    mutating func mark(origin: String, at now: Timestamp) {
        origins.insert(origin)
        markDue(at: now)
    }

    /// Whether a list need be parsed again has changed, as long as its file is as it is.
    mutating func mark(list: ListName, at now: Timestamp) {
        lists.insert(list)
        markDue(at: now)
    }

    /// What events have told of a list's file has changed.
    mutating func mark(rejectionOf list: ListName, at now: Timestamp) {
        rejections.insert(list)
        markDue(at: now)
    }

    mutating func mark(generations numbers: some Sequence<Int>, at now: Timestamp) {
        generations.formUnion(numbers)
        markDue(at: now)
    }

    /// Has the single values stored at once if they have changed: somebody may have been told so.
    mutating func mark(values: RememberedValues, at now: Timestamp) {
        if values != self.values { due = now }
    }

    /// Has the single values stored again with the next changes: the ages that they tell are others now.
    mutating func renewValues() {
        values = nil
    }

    /// What a start found is stored, but for the times of these generations, which can wait for the next changes.
    mutating func recordStart(values: RememberedValues, generations numbers: some Sequence<Int>) {
        self.values = values
        generations.formUnion(numbers)
    }

    /// Has everything stored anew: what was stored is lost.
    mutating func markAll(_ plan: Reconciler, at now: Timestamp) {
        icons.formUnion(plan.book.catalog.icons.keys)
        origins.formUnion(plan.book.downloads.origins.keys)
        lists.formUnion(plan.book.catalog.lists.keys)
        rejections.formUnion(plan.rejections.keys)
        generations.formUnion(plan.book.retention.ledger.supersessions.keys)
        values = nil
        due = now
    }

    private mutating func markDue(at now: Timestamp) {
        if due == nil { due = now + Self.delay }
    }

    // MARK: What is stored

    /// Takes what changed, as it is now.
    ///
    /// What is known of a list is stored once it is published: it is the document that says what was in it.
    mutating func drain(from plan: Reconciler) -> MemoChanges {
        var changes = MemoChanges()
        for url in icons {
            if let icon = plan.book.catalog.icons[url] {
                changes.remembered.append(IconMemo(url: url, icon))
            } else {
                changes.forgotten.append(url)
            }
        }
        icons = []
        for origin in origins {
            if let health = plan.book.downloads.origins[origin] {
                changes.origins.append(OriginMemo(origin: origin, health: health))
            } else {
                changes.forgottenOrigins.append(origin)
            }
        }
        origins = []
        let unpublished = lists.filter(plan.book.publishing.isToBePublished)
        for name in lists.subtracting(unpublished) {
            if let known = plan.book.catalog.lists[name]?.known {
                changes.lists.append(ListMemo(list: name, sha256: known.sha256, rules: plan.folder.rules))
            } else {
                changes.forgottenLists.append(name)
            }
        }
        lists = unpublished
        for name in rejections {
            if let memo = plan.rejections[name] {
                changes.rejections.append(memo)
            } else {
                changes.forgottenRejections.append(name)
            }
        }
        rejections = []
        for generation in generations {
            if let time = plan.book.retention.ledger.supersessions[generation] {
                changes.superseded[generation] = time
            } else {
                changes.released.append(generation)
            }
        }
        generations = []
        let newest = plan.remembered
        if newest != values { changes.values = newest }
        values = newest
        due = nil
        return changes
    }
}

extension IconMemo {
    fileprivate init(url: IconURL, _ icon: IconRecord) {
        self.init(
            url: url, image: icon.image?.sha256, response: icon.response, freshUntil: icon.freshUntil,
            failure: icon.failure, trail: icon.trail)
    }
}
