// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The `by-url/` names that do not lead to their icons' own images, or may not.
///
/// A name should lead to the image shown for its icon. Those of most icons lead to their own images, and are not here.
struct NameTable: Sendable {
    private struct Name {
        /// The image to which it leads, if known.
        var image = Boxed<AppListDocument.Image>(wrappedValue: nil)
        /// Whether it may not lead where it should.
        var isOpen = true
        /// Whether that file was found damaged.
        var isDamaged = false
        /// The image to which the publication in flight sets it.
        var next: Boxed<AppListDocument.Image>?
    }

    private var names: [IconURL: Name] = [:]
    private var hasDamage = false

    /// The image to which a name leads, if known; `nil` if that is its icon's own one.
    func image(of icon: IconURL) -> Boxed<AppListDocument.Image>? { names.isEmpty ? nil : names[icon]?.image }

    var images: [IconURL: Boxed<AppListDocument.Image>] { names.mapValues(\.image) }

    /// Records to which image a name leads at a start.
    mutating func restore(_ icon: IconURL, _ image: Boxed<AppListDocument.Image>?) {
        names[icon] = image.map { Name(image: $0, isOpen: false) }
    }

    /// Records that another image may be shown for an icon; `own` is the one that it had itself.
    mutating func review(_ icon: IconURL, own: Boxed<AppListDocument.Image>? = nil) {
        names[icon, default: own.map { Name(image: $0) } ?? Name()].isOpen = true
    }

    /// Records that the file to which a name leads is damaged, if there is such a name.
    mutating func recordDamage(of icon: IconURL) {
        let name = names[icon] ?? Name()
        names[icon] = Name(image: name.next ?? name.image, isDamaged: true)
        hasDamage = true
    }

    /// The names of damaged files for which no other image is shown.
    func damaged(in catalog: Catalog) -> Set<IconURL> {
        guard hasDamage else { return [] }
        return Set(names.lazy.filter { $0.value.isDamaged && catalog.shownImage(for: $0.key) == nil }.map(\.key))
    }

    /// Records that names are gone, or lead to their icons' own images.
    mutating func forget(_ icons: some Sequence<IconURL>) {
        if !names.isEmpty { for icon in icons { names[icon] = nil } }
    }

    /// Records that another cache folder is at the path.
    mutating func reset() { names = names.mapValues { _ in Name() } }

    /// Begins a publication; returns the names that it sets apart from those of its staged images.
    ///
    /// Others come together with the documents that show them: a name that no document refers to would never be removed.
    mutating func begin(
        with contents: PublicationContents, in catalog: Catalog
    ) -> [Publication.Link] {
        var links: [Publication.Link] = []
        hasDamage = names.values.contains(where: \.isDamaged)
        for (icon, name) in names where name.isOpen && !contents.stagedURLs.contains(icon) {
            let (record, shown) = (catalog.icons[icon], catalog.shownImage(for: icon))
            if !name.isDamaged, shown == nil || shown?.digest == name.image.digest {
                let isOwn = record?.boxedImage.digest == name.image.digest
                names[icon] = isOwn ? nil : Name(image: name.image, isOpen: false)
                continue
            }
            guard let record, record.isReferenced, let path = shown?.wrappedValue?.path else { continue }
            let isPublished = catalog.icons.id(named: icon) != nil
            let lists = record.hasImage ? record.lists : catalog.lists(replacing: icon)
            guard isPublished || lists.contains(where: contents.lists.contains) else { continue }
            // If the publication fails, a name that a document refers to must not be removed.
            let before = name.image.wrappedValue ?? (isPublished ? record.image : nil)
            links.append((icon, path, before: before?.path))
            names[icon]?.next = shown
        }
        return links
    }

    /// Ends a publication that also set the names of these staged images; `nil` if it failed.
    mutating func end(published staged: Set<IconURL>?) {
        for (icon, name) in names {
            guard let next = name.next else { continue }
            names[icon] = staged == nil ? Name(image: name.image, isDamaged: name.isDamaged) : Name(image: next)
        }
        forget(staged ?? [])
    }
}
