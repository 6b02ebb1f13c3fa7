// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules

/// The contents of one publication: the due lists, and the images that can be published with only these lists.
struct PublicationContents {
    /// The least time for which a list waits for others that share a new image with it.
    private static let holdTime: Duration = .seconds(5)

    /// The changed lists that are due, and those that share a new image with them and may be published.
    private(set) var lists: Set<ListName>
    private(set) var staged: [IconURL: StagedImage] = [:]
    /// The icons whose images wait for other lists.
    ///
    /// A new image of an icon is published together with all lists that show the old one, so that no two documents of a
    /// generation have different images for one URL.
    private var held: Set<IconURL> = []
    private let now: Timestamp

    init(
        _ plan: PublicationPlan, _ catalog: Catalog, _ ledger: RetirementLedger,
        during traffic: PublicationWindow.Traffic, at now: Timestamp
    ) {
        self.now = now
        lists = plan.window.lists(dueAt: now, during: traffic)
        guard !plan.staged.isEmpty else { return }
        var rest = lists
        while !rest.isEmpty {
            var found: Set<ListName> = []
            let rewritten = plan.rewritten.subtracting(lists)
            for url in Self.staged(of: rest, plan, catalog) {
                for other in Self.lists(showing: url, beside: lists, rewritten, catalog, ledger)
                where plan.window.isChanged(other) && plan.window.mayPublish(other, at: now, during: traffic) {
                    lists.insert(other)
                    found.insert(other)
                }
            }
            rest = found
        }
        let rewritten = plan.rewritten.subtracting(lists)
        for url in Self.staged(of: lists, plan, catalog) {
            let place = catalog.icons.index(of: url)
            guard let image = place.flatMap({ catalog.icons[$0].icon.staged }) else { continue }
            let others = Self.lists(showing: url, beside: lists, rewritten, catalog, ledger)
            if others.isEmpty { staged[url] = image } else { held.insert(url) }
        }
    }

    /// The URLs of these lists that have a staged image; O(*n*) in that number, or in that of the lists' entries if
    /// less.
    private static func staged(of names: Set<ListName>, _ plan: PublicationPlan, _ catalog: Catalog) -> [IconURL] {
        let entries = names.lazy.compactMap { catalog.lists[$0]?.entries.count }.reduce(0, +)
        guard plan.staged.count > entries else {
            return plan.staged.filter { url in
                guard let place = catalog.icons.index(of: url) else { return false }
                return catalog.icons[place].icon.lists.contains(where: names.contains)
            }
        }
        return names.flatMap { catalog.lists[$0]?.entries.lazy.map(\.icon).filter(plan.staged.contains) ?? [] }
    }

    /// The lists not in `names` whose newest document has an image for the URL; may contain duplicates.
    ///
    /// Called for many URLs, and there may be many rewritten lists: `rewritten` must already exclude `names`.
    private static func lists(
        showing url: IconURL, beside names: Set<ListName>, _ rewritten: Set<ListName>, _ catalog: Catalog,
        _ ledger: RetirementLedger
    ) -> [ListName] {
        guard let place = catalog.icons.index(of: url), catalog.icons[place].icon.hasImage else { return [] }
        let naming = catalog.icons[place].icon.lists.filter { !names.contains($0) }
        return (naming + rewritten).filter { list in
            catalog.lists[list]?.published.map { ledger.names(url, in: $0.sha256) } ?? false
        }
    }

    /// When lists that share images with others are due again, together with those.
    func changesToHold(
        _ plan: PublicationPlan, _ catalog: Catalog, _ ledger: RetirementLedger,
        during traffic: PublicationWindow.Traffic
    ) -> [(list: ListName, time: Timestamp)] {
        let rewritten = plan.rewritten.subtracting(lists)
        return held.flatMap { url -> [(list: ListName, time: Timestamp)] in
            let others = Self.lists(showing: url, beside: lists, rewritten, catalog, ledger)
            // If one of them waits for room, they are published together once there is room.
            guard plan.window.deferred.isDisjoint(with: others) else { return [] }
            let due = others.map { plan.window.nextDue(of: $0, during: traffic) }.max()
            // Not at once: room may be long in coming.
            let retry = max(due ?? now, now + Self.holdTime)
            return (catalog.icons[url]?.lists ?? []).filter(lists.contains).map { ($0, retry) }
        }
    }

    func publication(
        _ generation: Int, _ plan: PublicationPlan, _ catalog: Catalog, _ ledger: RetirementLedger
    ) -> Publication {
        var publication = Publication(generation: generation, published: now)
        var moved: Set<Digest> = []
        for (url, image) in staged {
            if ledger.isOnDisk(image.image.sha256) || !moved.insert(image.image.sha256).inserted {
                publication.discards.append(image)
            } else {
                publication.moves.append(image)
            }
            let before = catalog.icons[url]?.image?.path ?? plan.named[url]?.wrappedValue?.path
            publication.links.append((url, image.image.path, before: before))
        }
        publication.documents = lists.compactMap { catalog.document(of: $0, without: held) }
        publication.checks = newlyNamed(in: publication.documents, catalog, ledger)
        publication.kept.reserveCapacity(catalog.lists.count)
        for (name, list) in catalog.lists where !lists.contains(name) { publication.kept[name] = list.published }
        return publication
    }

    /// The images on disk that documents newly name, apart from staged ones.
    ///
    /// Between two complete inspections it is unknown whether they still exist.
    private func newlyNamed(
        in documents: [AppListDocument], _ catalog: Catalog, _ ledger: RetirementLedger
    ) -> Set<AppListDocument.Image> {
        var images: Set<AppListDocument.Image> = []
        for document in documents {
            let published = catalog.lists[document.list]?.published
            let known = published.flatMap { ledger.documents[$0.sha256]?.images } ?? SortedSet()
            for index in document.apps.indices {
                guard case .ready(let image) = document.apps[index].state, !known.contains(image.sha256) else {
                    continue
                }
                images.insert(image)
            }
        }
        for image in staged.values { images.remove(image.image) }
        return images
    }
}
