// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The keys of memos that changed since they were last stored, and when to store them.
///
/// Only the keys are recorded: ``drain(from:)`` stores the current values.
struct UnstoredChanges: Sendable {
    /// The key of a memo that is not an icon's.
    enum Key: Hashable {
        /// Whether a list's unchanged file must be parsed again.
        case list(ListName)
        case origin(String)
        case rejection(ListName)
        /// An image that began or ceased to fail to be rendered.
        case rendition(Digest)
        /// A generation that was superseded or released.
        case generation(Int)
    }

    /// How long changes wait so that later ones are stored with them, and the number of icons that ends the wait.
    private static let wait = (time: Duration.seconds(1), icons: 2500)

    private var icons: Set<IconID> = []
    /// The icons that were forgotten; later ones may have their numbers, or their URLs.
    private var forgottenIcons: Set<IconURL> = []
    private var keys: Set<Key> = []
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

    mutating func mark(_ key: Key, at now: Timestamp) { mark(CollectionOfOne(key), at: now) }

    mutating func mark(_ changed: some Sequence<Key>, at now: Timestamp) {
        keys.formUnion(changed)
        markDue(at: now)
    }

    /// Makes changed single values due at once, because a user may rely on them; also the times of superseded generations
    /// if holds changed, because those that are no longer held have a longer grace.
    mutating func mark(values: RememberedValues, superseded: [Int], at now: Timestamp) {
        guard values != self.values else { return }
        due = now
        if values.holds != self.values?.holds { keys.formUnion(superseded.lazy.map(Key.generation)) }
    }

    /// Stores the single values again with the next changes, because the ages in them have changed.
    mutating func renewValues() {
        values = nil
    }

    /// Records that everything is stored as it was found at the start, except the times of these generations, which are
    /// stored with later changes.
    mutating func recordStart(values: RememberedValues, generations numbers: some Sequence<Int>) {
        self.values = values
        keys.formUnion(numbers.lazy.map(Key.generation))
    }

    /// Marks everything to be stored again, because the stored state was lost.
    mutating func markAll(_ plan: Reconciler, at now: Timestamp) {
        icons.formUnion(plan.book.catalog.icons.ids)
        keys.formUnion(plan.book.downloads.origins.keys.lazy.map(Key.origin))
        keys.formUnion(plan.book.catalog.lists.keys.lazy.map(Key.list))
        keys.formUnion(plan.rejections.keys.lazy.map(Key.rejection))
        keys.formUnion(plan.book.renditions.records.failed.lazy.map(Key.rendition))
        keys.formUnion(plan.book.retention.ledger.supersessions.keys.lazy.map(Key.generation))
        values = nil
        due = now
    }

    private mutating func markDue(at now: Timestamp) {
        if due == nil { due = now + Self.wait.time }
    }

    // MARK: Storing

    /// Removes and returns the changes, with current values.
    mutating func drain(from plan: Reconciler) -> MemoChanges {
        let book = plan.book
        var changes = MemoChanges()
        for url in forgottenIcons {
            if let id = book.catalog.icons.id(of: url) { icons.insert(id) } else { changes.forgotten.append(url) }
        }
        changes.remembered = icons.map { IconMemo(of: $0, in: book.catalog) }
        (icons, forgottenIcons) = ([], [])
        var waiting: Set<Key> = []
        for key in keys {
            switch key {
            // The memo is stored once the list is published, because its document holds the list's content.
            case .list(let name) where book.publishing.isToBePublished(name): waiting.insert(key)
            case .list(let name):
                let list = book.catalog.lists[name]
                let known = list?.rejection == nil ? list?.known : nil
                let memo = known.map { ListMemo(list: name, sha256: $0, rules: plan.folder.rules) }
                changes.lists.updateValue(memo, forKey: name)
            case .origin(let origin):
                let memo = book.downloads.origins[origin].map { OriginMemo(origin: origin, health: $0) }
                changes.origins.updateValue(memo, forKey: origin)
            case .rejection(let list): changes.rejections.updateValue(plan.rejections[list], forKey: list)
            case .rendition(let image):
                changes.renderFailures.updateValue(book.renditions.memo(of: image), forKey: image)
            case .generation(let number):
                changes.superseded.updateValue(book.retention.ledger.supersessions[number], forKey: number)
            }
        }
        keys = waiting
        let newest = plan.remembered
        if newest != values { changes.values = newest }
        values = newest
        due = nil
        return changes
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
