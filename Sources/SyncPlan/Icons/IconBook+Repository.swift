// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules

/// The images in the folder `lists.iconBaseURL`, as Munki's `_icon_hashes.plist` names them.
struct IconRepository: Equatable, Sendable {
    let base: IconBase
    let images: Set<IconURL>

    /// Whether a URL is in the folder, and not one of its images.
    func lacks(_ url: IconURL) -> Bool {
        base.file(of: url.text).map { !images.contains(IconURL(base.url(ofFile: $0))) } ?? false
    }
}

extension IconBook {
    /// Why an icon is not requested from its origin; `nil` if it may be, as one whose image was damaged.
    func absence(of url: IconURL) -> FetchFailure? {
        guard let repository, repository.lacks(url), catalog.icons[url]?.wasMissing != true else { return nil }
        return FetchFailure(.notInRepository, "no _icon_hashes.plist in the lists folder names it")
    }

    /// Takes over the images that lists name, and requests the icons that were not named until now.
    mutating func setRepository(in turn: inout Turn) {
        let named = catalog.lists.values.compactMap(\.images)
        let base = named.isEmpty ? nil : settings.lists.iconBaseURL.flatMap { IconBase($0) }
        repository = base.map { IconRepository(base: $0, images: named.reduce(into: []) { $0.formUnion($1) }) }
        let tally = catalog.tally
        let urls = [tally.failures, tally.refreshFailures].flatMap { $0[.fetch(.notInRepository)]?.sorted ?? [] }
        for url in urls where absence(of: url) == nil { apply(.retried(turn.now), to: url, in: &turn) }
    }
}
