// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The keys of memos that changed since they were last stored, and when to store them.
///
/// Only the keys are recorded: ``drain(from:)`` stores the current values.
struct UnstoredChanges: Sendable {
    /// How long changes wait so that later ones are stored with them, and the number of icons that ends the wait.
    private static let wait = (time: Duration.seconds(1), icons: 2500)

    private var icons: Set<IconID> = []
    /// The icons that were forgotten; later ones may have their numbers, or their URLs.
    private var forgottenIcons: Set<IconURL> = []
    private var origins: Set<String> = []
    private var lists: Set<ListName> = []
    private var rejections: Set<ListName> = []
    /// Images that began or ceased to fail to be rendered.
    private var renditions: Set<Digest> = []
    /// Generations that were superseded or released.
    private var generations: Set<Int> = []
    /// The single values as stored; `nil` if they must be stored again in any case.
    private var values: RememberedValues?
    /// When to store the changes; `nil` if there are none.
    private(set) var due: Timestamp?

    // MARK: Recording

    mutating func mark(icon: IconID, at now: Timestamp) {
        icons.insert(icon)
        markDue(ofIconsAt: now)
    }

    /// Records that an icon was forgotten, whose number a later one may get.
    mutating func mark(forgotten url: IconURL, of icon: IconID, at now: Timestamp) {
        icons.remove(icon)
        forgottenIcons.insert(url)
        markDue(ofIconsAt: now)
    }

    private mutating func markDue(ofIconsAt now: Timestamp) {
        if icons.count + forgottenIcons.count == Self.wait.icons { due = now } else { markDue(at: now) }
    }

    mutating func mark(origin: String, at now: Timestamp) {
        origins.insert(origin)
        markDue(at: now)
    }

    /// Records that a list's memo changed: whether its unchanged file must be parsed again.
    mutating func mark(list: ListName, at now: Timestamp) {
        lists.insert(list)
        markDue(at: now)
    }

    mutating func mark(rejectionOf list: ListName, at now: Timestamp) {
        rejections.insert(list)
        markDue(at: now)
    }

    mutating func mark(renditionsOf originals: some Sequence<Digest>, at now: Timestamp) {
        renditions.formUnion(originals)
        markDue(at: now)
    }

    mutating func mark(generations numbers: some Sequence<Int>, at now: Timestamp) {
        generations.formUnion(numbers)
        markDue(at: now)
    }

    /// Makes changed single values due at once, because a user may rely on them.
    mutating func mark(values: RememberedValues, at now: Timestamp) {
        if values != self.values { due = now }
    }

    /// Stores the single values again with the next changes, because the ages in them have changed.
    mutating func renewValues() {
        values = nil
    }

    /// Records that everything is stored as it was found at the start, except the times of these generations, which are
    /// stored with later changes.
    mutating func recordStart(values: RememberedValues, generations numbers: some Sequence<Int>) {
        self.values = values
        generations.formUnion(numbers)
    }

    /// Marks everything to be stored again, because the stored state was lost.
    mutating func markAll(_ plan: Reconciler, at now: Timestamp) {
        icons.formUnion(plan.book.catalog.icons.ids)
        origins.formUnion(plan.book.downloads.origins.keys)
        lists.formUnion(plan.book.catalog.lists.keys)
        rejections.formUnion(plan.rejections.keys)
        renditions.formUnion(plan.book.renditions.records.originals)
        generations.formUnion(plan.book.retention.ledger.supersessions.keys)
        values = nil
        due = now
    }

    private mutating func markDue(at now: Timestamp) {
        if due == nil { due = now + Self.wait.time }
    }

    // MARK: Storing

    /// Removes and returns the changes, with current values.
    ///
    /// A list's memo is stored once the list is published, because its document holds the list's content.
    mutating func drain(from plan: Reconciler) -> MemoChanges {
        var changes = MemoChanges()
        for url in forgottenIcons {
            if let id = plan.book.catalog.icons.id(of: url) { icons.insert(id) } else { changes.forgotten.append(url) }
        }
        forgottenIcons = []
        changes.remembered = Self.drain(&icons) { IconMemo(of: $0, in: plan.book.catalog) }.memos
        (changes.origins, changes.forgottenOrigins) = Self.drain(&origins) { origin in
            plan.book.downloads.origins[origin].map { OriginMemo(origin: origin, health: $0) }
        }
        let unpublished = lists.filter(plan.book.publishing.isToBePublished)
        lists.subtract(unpublished)
        (changes.lists, changes.forgottenLists) = Self.drain(&lists) { name in
            let list = plan.book.catalog.lists[name]
            let known = list?.rejection == nil ? list?.known : nil
            return known.map { ListMemo(list: name, sha256: $0, rules: plan.folder.rules) }
        }
        lists = unpublished
        (changes.rejections, changes.forgottenRejections) = Self.drain(&rejections) { plan.rejections[$0] }
        (changes.renderFailures, changes.forgottenRenderFailures) = Self.drain(&renditions) {
            plan.book.renditions.memo(of: $0)
        }
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

    /// Empties a set of keys; returns the memos of those that have one, and the other keys.
    private static func drain<Key, Memo>(
        _ keys: inout Set<Key>, memo: (Key) -> Memo?
    ) -> (memos: [Memo], forgotten: [Key]) {
        defer { keys = [] }
        var (memos, forgotten): ([Memo], [Key]) = ([], [])
        for key in keys {
            if let memo = memo(key) { memos.append(memo) } else { forgotten.append(key) }
        }
        return (memos, forgotten)
    }
}

extension IconMemo {
    /// The memo to store for an icon.
    ///
    /// Otherwise everything would be stored after the last publication. After a crash before that, the response belongs
    /// to an image that no generation has, and is ignored.
    fileprivate init(of id: IconID, in catalog: Catalog) {
        let (url, icon) = (catalog.icons.url(of: id), catalog.icons[id].icon)
        let image = catalog.images.digest(icon.image ?? icon.staged?.image)
        if !icon.hasImage, let answer = icon.stagedAnswer {
            self.init(
                url: url, image: image, packedResponse: answer.response, freshUntil: answer.freshUntil,
                failure: nil, trail: icon.trail)
        } else {
            self.init(
                url: url, image: image, packedResponse: catalog.icons.response(of: id), freshUntil: icon.freshUntil,
                failure: icon.failure, trail: icon.trail)
        }
    }
}
