// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The contents of one publication: the due lists, and the images that can be published with only these lists.
struct PublicationContents {
    /// The least time for which a list waits for other lists that share a new image with it.
    private static let holdTime: Duration = .seconds(5)

    /// The changed lists that are due, and those that share a new image with them and may be published.
    private(set) var lists: Set<ListName>
    private(set) var staged: [IconID] = []
    private(set) var stagedIcons: Set<IconID> = []
    /// The icons whose images wait for other lists, or that the cache folder refuses.
    ///
    /// A new image of an icon is published together with all lists that show the old one, so that no two documents of a
    /// generation have different images for one URL.
    private var held: Set<IconID> = []
    /// The icons whose images the cache folder refused a moment ago.
    private let leftOut: Set<IconID>
    var leavesOut: Bool { !leftOut.isEmpty }
    private let now: Timestamp

    init(
        _ plan: PublicationPlan, _ catalog: Catalog, _ ledger: RetirementLedger,
        during traffic: PublicationWindow.Traffic, at now: Timestamp
    ) {
        self.now = now
        leftOut = plan.isPlacing(at: now) ? [] : plan.unplaced
        lists = plan.window.lists(dueAt: now, during: traffic)
        guard !plan.staged.isEmpty else { return }
        var found = Self.staged(of: lists, plan, catalog)
        var rest = found
        while !rest.isEmpty {
            var added: Set<ListName> = []
            let rewritten = plan.rewritten.subtracting(lists)
            for id in rest {
                for other in Self.lists(showing: id, beside: lists, rewritten, catalog, ledger)
                where plan.window.isChanged(other) && plan.window.mayPublish(other, at: now, during: traffic) {
                    lists.insert(other)
                    added.insert(other)
                }
            }
            rest = Self.staged(of: added, plan, catalog)
            found += rest
        }
        let rewritten = plan.rewritten.subtracting(lists)
        for id in found {
            guard catalog.icons[id].icon.hasStaged else { continue }
            if leftOut.contains(id) || !Self.lists(showing: id, beside: lists, rewritten, catalog, ledger).isEmpty {
                held.insert(id)
            } else if stagedIcons.insert(id).inserted {
                staged.append(id)
            }
        }
    }

    /// The icons of these lists that have a staged image; may contain duplicates.
    ///
    /// - Complexity: O(*n*) in the number of staged images, or in that of the lists' entries if they are fewer.
    private static func staged(of names: Set<ListName>, _ plan: PublicationPlan, _ catalog: Catalog) -> [IconID] {
        let entries = names.lazy.compactMap { catalog.lists[$0]?.icons.count }.reduce(0, +)
        guard plan.staged.count > entries else {
            return plan.staged.filter { catalog.icons[$0].icon.lists.contains(where: names.contains) }
        }
        return names.flatMap { name in
            (catalog.lists[name]?.icons ?? []).filter { catalog.icons[$0].icon.hasStaged }
        }
    }

    /// The lists not in `names` whose newest document has an image for an icon; may contain duplicates.
    ///
    /// Called for many icons, and there may be many rewritten lists: the caller passes `rewritten` without `names`.
    private static func lists(
        showing id: IconID, beside names: Set<ListName>, _ rewritten: Set<ListName>, _ catalog: Catalog,
        _ ledger: RetirementLedger
    ) -> [ListName] {
        guard catalog.icons[id].icon.hasImage else { return [] }
        let naming = catalog.icons[id].icon.lists.filter { !names.contains($0) }
        return (naming + rewritten).filter { list in
            catalog.lists[list]?.published.map { ledger.names(id, in: $0.sha256) } ?? false
        }
    }

    /// The lists that wait for others which share an image with them, each with the time when both are due.
    func changesToHold(
        _ plan: PublicationPlan, _ catalog: Catalog, _ ledger: RetirementLedger,
        during traffic: PublicationWindow.Traffic
    ) -> [(list: ListName, time: Timestamp)] {
        // There is no later publication.
        if traffic == .ending { return [] }
        let rewritten = plan.rewritten.subtracting(lists)
        return held.flatMap { id -> [(list: ListName, time: Timestamp)] in
            let others = Self.lists(showing: id, beside: lists, rewritten, catalog, ledger)
            // If one of the other lists waits for room, all of them are published together once there is room.
            guard plan.window.deferred.isDisjoint(with: others) else { return [] }
            let isLeftOut = leftOut.contains(id)
            let due = others.map { plan.window.nextDue(of: $0, during: traffic) }.max()
            // Not before ``holdTime``: it may be long until there is room.
            let earliest = isLeftOut ? plan.nextPlacing : now + Self.holdTime
            let retry = max(due ?? now, earliest)
            return catalog.icons[id].icon.lists.filter(lists.contains).map { ($0, retry) }
        }
    }

    func publication(
        _ generation: Int, _ catalog: Catalog, _ ledger: RetirementLedger, _ renditions: Renditions
    ) -> Publication {
        var publication = Publication(generation: generation, published: now)
        var new: Set<ImageID> = []
        new.reserveCapacity(staged.count)
        publication.moves.reserveCapacity(staged.count)
        publication.links.reserveCapacity(staged.count)
        func add(_ staged: StagedImage, isNew: Bool) {
            if isNew { publication.moves.append(staged) } else { publication.discards.append(staged) }
        }
        for id in staged {
            guard let waiting = catalog.icons[id].icon.staged else { continue }
            let (image, url) = (catalog.images.staged(waiting), catalog.icons.url(of: id))
            add(image, isNew: new.insert(waiting.image).inserted && !catalog.images[waiting.image].isOnDisk)
            let before = catalog.names[url]?.image ?? catalog.icons[id].icon.image
            publication.links.append((url, image.image.path, before: before.map { catalog.images.image($0).path }))
        }
        publication.documents = lists.compactMap { catalog.document(of: $0, without: held) }
        for index in publication.documents.indices { renditions.add(to: &publication.documents[index]) }
        publication.renditions = renditions.staged.waiting(in: publication.documents)
        // No two of them have one image.
        for rendition in publication.renditions {
            let id = catalog.images.id(of: rendition.image.sha256)
            add(rendition, isNew: id.map { !new.contains($0) && !catalog.images[$0].isOnDisk } ?? true)
        }
        let renditions = Set(publication.renditions.lazy.map(\.image.sha256))
        publication.checks = newlyNamed(in: publication.documents, besides: new, renditions, catalog, ledger)
        publication.kept.reserveCapacity(catalog.lists.count)
        for (name, list) in catalog.lists where !lists.contains(name) { publication.kept[name] = list.published }
        return publication
    }

    /// The images on disk that documents newly name, apart from staged ones.
    ///
    /// Between two complete inspections it is unknown whether such images still exist.
    private func newlyNamed(
        in documents: [AppListDocument], besides staged: Set<ImageID>, _ renditions: Set<Digest>, _ catalog: Catalog,
        _ ledger: RetirementLedger
    ) -> Set<AppListDocument.Image> {
        var images: Set<AppListDocument.Image> = []
        for document in documents {
            let published = catalog.lists[document.list]?.published
            let known = published.flatMap { ledger.documents[$0.sha256]?.images } ?? SortedSet()
            func add(_ image: AppListDocument.Image, _ id: ImageID?) {
                let isKnown = id.map { known.contains($0) || staged.contains($0) } ?? false
                if !isKnown, !renditions.contains(image.sha256) { images.insert(image) }
            }
            let icons = catalog.lists[document.list]?.icons ?? []
            for index in document.apps.indices {
                guard case .ready(let image) = document.apps[index].state else { continue }
                let likely = catalog.icons[icons[index]].icon.shownImage
                add(image, catalog.images.id(of: image.sha256, likely: likely))
                guard case .some(_, let made) = document.apps[index].rest else { continue }
                for rendition in made { add(rendition.image, catalog.images.id(of: rendition.image.sha256)) }
            }
        }
        return images
    }
}
