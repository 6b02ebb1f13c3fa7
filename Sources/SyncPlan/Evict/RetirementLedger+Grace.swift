// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

extension RetirementLedger {
    /// Waives the grace period of the superseded generations that retire something; O(*n*) in what generations name.
    ///
    /// These contain icons that neither a list nor the current generation names. ``RetentionRule/shortest`` still applies.
    mutating func waiveGrace(in catalog: Catalog) {
        var (icons, images): (Set<IconID>, Set<ImageID>) = ([], [])
        for document in documents.values where document.since != nil {
            icons.formUnion(document.icons)
            images.formUnion(document.images)
        }
        for document in documents.values where document.since == nil {
            let retires =
                document.icons.contains { !icons.contains($0) && !catalog.needsName(of: $0) }
                || document.images.contains { !images.contains($0) && !catalog.images[$0].isShown }
            if retires { waived.formUnion(document.namers(among: superseded)) }
        }
    }

    /// How many images on disk neither the current generation nor an icon names: those that icons had before, and
    /// renditions; O(*n*) in what generations name.
    ///
    /// `icons` are the images of retired icons.
    func retiredImages(
        besides icons: some Sequence<ImageID>, in catalog: Catalog
    ) -> (replaced: Int, renditions: Int) {
        guard !superseded.isEmpty else { return (0, 0) }
        let images = catalog.images
        var idle = Set(images.ids.filter { !images[$0].isShown && images[$0].isOnDisk })
        idle.subtract(icons)
        for document in documents.values where document.since != nil { idle.subtract(document.images) }
        let renditions = documents.values.reduce(into: Set<ImageID>()) { $0.formUnion($1.renditions) }
        let made = idle.intersection(renditions).count
        return (idle.count - made, made)
    }

    /// Whether a generation with a waived grace period is still to be released, apart from `others`.
    func isWaiving(under rule: RetentionRule, except others: Set<Int> = []) -> Bool {
        waived.contains { !rule.isHeld($0) && !others.contains($0) }
    }

    /// The superseded generations whose grace period is over, the oldest first, with whether their leases expired too.
    func expired(under rule: RetentionRule, now: Timestamp) -> [GenerationRelease] {
        func isOver(_ number: Int) -> Bool { endOfGrace(of: number, rule.grace).map { $0 <= now } ?? false }
        let old = Array(kept(under: rule).prefix { isOver($0) })
        let young = waived.filter { !rule.isHeld($0) && !old.contains($0) && isOver($0) }
        return (old + young.sorted()).map { number in
            func isOlder(than age: Duration) -> Bool { supersessions[number].map { $0 + age <= now } ?? false }
            return GenerationRelease(
                generation: number, ignoresLeases: isOlder(than: max(rule.grace, rule.leaseMax)),
                isPastGrace: isOlder(than: rule.grace))
        }
    }

    /// When the next grace period ends, apart from that of some generations; `nil` if there is none.
    func nextExpiry(under rule: RetentionRule, except isOther: (Int) -> Bool = { _ in false }) -> Timestamp? {
        let oldest = kept(under: rule).first { !isOther($0) }
        let next = [oldest].compactMap(\.self) + waived.filter { !rule.isHeld($0) && !isOther($0) }
        return next.compactMap { endOfGrace(of: $0, rule.grace) }.min()
    }

    /// The superseded generations that are not held, the oldest first.
    private func kept(under rule: RetentionRule) -> some Sequence<Int> {
        superseded.lazy.filter { !rule.isHeld($0) }
    }

    private func endOfGrace(of number: Int, _ grace: Duration) -> Timestamp? {
        guard let time = supersessions[number] else { return nil }
        return time + (waived.contains(number) ? min(grace, RetentionRule.shortest) : grace)
    }

    func expiries(grace: Duration) -> [Int: Timestamp] {
        var ends: [Int: Timestamp] = [:]
        for number in superseded { ends[number] = endOfGrace(of: number, grace) }
        return ends
    }

    /// Whether some generations still name more than `limit` retired icons, apart from those that were replaced.
    ///
    /// An icon whose image was lost counts too if it was not downloaded again, unless all images were lost. An icon in
    /// `replaced` has an app with a new icon URL. O(*n*) in the number of icons that those generations name, if most
    /// are referenced.
    func retires(
        moreThan limit: Int, in generations: ClosedRange<Int>, except replaced: Set<IconURL> = [], in catalog: Catalog
    ) -> Bool {
        var images: Set<ImageID> = []
        var lost: Set<IconID> = []
        let all = superseded + (current.map { [$0] } ?? [])
        for document in documents.values where document.isNamed(by: generations, among: all) {
            images.formUnion(Self.lastImages(of: document, except: replaced, in: catalog))
            if images.count > limit { return true }
            let showLast = Set(document.apps.lazy.map(\.entry.icon))
            for icon in document.icons where !catalog.icons[icon].icon.isReferenced {
                let url = catalog.icons.url(of: icon)
                if replaced.contains(url) { continue }
                if let image = catalog.icons[icon].icon.image {
                    if !catalog.images[image].isShown { images.insert(image) }
                } else if !showLast.contains(url) {
                    lost.insert(icon)
                }
                if !images.isEmpty, images.count + lost.count > limit { return true }
            }
        }
        return false
    }

    /// The last images of apps in documents that are no longer shown and were not replaced.
    ///
    /// An icon in `replaced` has an app with a new icon URL, and does not count. O(*n*) in the number of documents, and
    /// of such images.
    func retiredLastImages(except replaced: Set<IconURL>, in catalog: Catalog) -> Set<ImageID> {
        documents.values.reduce(into: []) {
            $0.formUnion(Self.lastImages(of: $1, except: replaced, in: catalog))
        }
    }

    private static func lastImages(
        of document: Document, except replaced: Set<IconURL>, in catalog: Catalog
    ) -> [ImageID] {
        Dictionary(grouping: document.apps, by: \.entry.icon).flatMap { url, apps -> [ImageID] in
            let images = apps.map(\.last.image)
            // The icon's own image has replaced one of them.
            if catalog.icons[url]?.hasImage == true {
                return images.filter { $0 != images.first && !catalog.images[$0].isShown }
            }
            // If the list returns, its icon is named and has no image.
            if catalog.isReplaced(url) || replaced.contains(url) { return [] }
            return images.filter { !catalog.images[$0].isShown }
        }
    }
}
