// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The `by-url/` names that do not link to their icons' own images, or may not.
///
/// A name should link to the image shown for its icon. For most icons that is their own image; their names are not
/// here.
struct NameTable: Sendable {
    struct Name {
        /// The image to which it leads, if known.
        var image: ImageID?
        /// Whether it may not lead where it should.
        var isOpen = true
        /// Whether the file that the name links to was found damaged.
        var isDamaged = false
        /// The image to which the publication in flight sets it.
        var next: ImageID?
    }

    private(set) var names: [IconURL: Name] = [:]
    private var hasDamage = false

    /// What is known of a name; `nil` if it leads to its icon's own image.
    subscript(icon: IconURL) -> Name? { names.isEmpty ? nil : names[icon] }

    private mutating func set(_ icon: IconURL, _ name: Name?, in images: inout ImageTable) {
        let old = names[icon]
        names[icon] = name
        images.hold(name?.image)
        images.hold(name?.next)
        images.release(old?.image)
        images.release(old?.next)
    }

    /// Records to which image a name leads at a start.
    mutating func restore(_ icon: IconURL, _ image: ImageID?, in images: inout ImageTable) {
        set(icon, image.map { Name(image: $0, isOpen: false) }, in: &images)
    }

    /// Records that another image may be shown for an icon; `own` is the one that it had itself.
    mutating func review(_ icon: IconURL, own: ImageID? = nil, in images: inout ImageTable) {
        var name = names[icon] ?? Name(image: own)
        name.isOpen = true
        set(icon, name, in: &images)
    }

    /// Records that the file to which a name leads is damaged, if there is such a name.
    mutating func recordDamage(of icon: IconURL, in images: inout ImageTable) {
        let name = names[icon] ?? Name()
        set(icon, Name(image: name.next ?? name.image, isDamaged: true), in: &images)
        hasDamage = true
    }

    /// The names of damaged files for which no other image is shown.
    func damaged(in catalog: Catalog) -> Set<IconURL> {
        guard hasDamage else { return [] }
        return Set(names.lazy.filter { $0.value.isDamaged && catalog.shownImage(for: $0.key) == nil }.map(\.key))
    }

    /// Records that names are gone, or lead to their icons' own images.
    mutating func forget(_ icons: some Sequence<IconURL>, in images: inout ImageTable) {
        if !names.isEmpty { for icon in icons { set(icon, nil, in: &images) } }
    }

    /// Records that another cache folder is at the path.
    mutating func reset(in images: inout ImageTable) { for icon in names.keys { set(icon, Name(), in: &images) } }

    /// Begins a publication; returns the links to set besides those of its staged images.
    ///
    /// Others come together with the documents that show them: a name that no document refers to would never be removed,
    /// and one could be ahead of the first document by list name that shows it, if that is not in the publication.
    mutating func begin(
        with contents: PublicationContents, beside plan: PublicationPlan, _ ledger: RetirementLedger,
        in catalog: inout Catalog
    ) -> [Publication.Link] {
        var links: [Publication.Link] = []
        let mayWait = !plan.window.hasNoChangedList
        func isOutdated(_ list: ListName) -> Bool { plan.window.isChanged(list) && !contents.lists.contains(list) }
        // Their documents may show icons that they no longer name.
        lazy var outdated = plan.rewritten.filter(isOutdated).sorted()
        hasDamage = names.values.contains(where: \.isDamaged)
        for (icon, name) in names where name.isOpen {
            let id = catalog.icons.id(of: icon)
            if let id, contents.stagedIcons.contains(id) { continue }
            let (record, shown) = (catalog.icons[icon], catalog.shownImage(for: icon))
            if !name.isDamaged, shown == nil || shown == name.image {
                let isOwn = record?.image == name.image
                set(icon, isOwn ? nil : Name(image: name.image, isOpen: false), in: &catalog.images)
                continue
            }
            guard let record, record.isReferenced, let shown else { continue }
            let isPublished = catalog.icons.id(named: icon) != nil
            let lists = record.hasImage ? record.lists : catalog.lists(replacing: icon)
            guard isPublished || lists.contains(where: contents.lists.contains) else { continue }
            // A link to a damaged or an unknown image is set in any case.
            if isPublished, mayWait, record.hasImage, name.image != nil, !name.isDamaged {
                guard let current = lists.lazy.filter({ !isOutdated($0) }).min() else { continue }
                let earlier = lists.filter { $0 < current } + outdated.prefix { $0 < current }
                let documents = earlier.compactMap { catalog.lists[$0]?.published?.sha256 }
                if let id, documents.contains(where: { ledger.hasOwnImage(of: id, in: $0) }) { continue }
            }
            // If the publication fails, a name that a document refers to must not be removed.
            let before = name.image ?? (isPublished ? record.image : nil)
            let path = catalog.images.image(shown).path
            links.append((icon, path, before: before.map { catalog.images.image($0).path }))
            var next = name
            next.next = shown
            set(icon, next, in: &catalog.images)
        }
        return links
    }

    /// Ends a publication that also set the names of these staged images; `nil` if it failed.
    ///
    /// The names that the folder `refused` count as set: they hold up no publication, and inspections correct them.
    mutating func end(published staged: [IconURL]?, refused: Set<IconURL> = [], in images: inout ImageTable) {
        for (icon, name) in names {
            guard let next = name.next else { continue }
            let isDone = staged != nil || refused.contains(icon)
            set(icon, isDone ? Name(image: next) : Name(image: name.image, isDamaged: name.isDamaged), in: &images)
        }
        forget(staged ?? [], in: &images)
    }
}
