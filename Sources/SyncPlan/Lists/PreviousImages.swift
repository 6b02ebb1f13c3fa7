// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The last image of an app, shown while its icon's new URL has none.
package struct PreviousImage: Equatable, Sendable {
    /// The URL that the image came from.
    package var url: IconURL
    var image: Boxed<AppListDocument.Image>
    /// When the app's URL changed.
    package var since: Timestamp?

    init(_ url: IconURL, _ image: Boxed<AppListDocument.Image>, since: Timestamp?) {
        (self.url, self.image, self.since) = (url, image, since)
    }
}

/// The entries that show previous images; costs nothing while there are none.
struct PreviousImages: Sendable {
    /// By list and index of the entry.
    private(set) var entries: [ListName: [Int: PreviousImage]] = [:]
    /// For each icon without an image, the entries that show a previous one.
    private var places: [IconURL: [ListName: Set<Int>]] = [:]
    /// The keys of ``places``, by list.
    private var iconsByList: [ListName: Set<IconURL>] = [:]
    /// The images by source URL, with the number of entries that show them.
    private var sources: [IconURL: (image: Boxed<AppListDocument.Image>, entries: Int)] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The icons for which previous images are shown.
    var icons: some Collection<IconURL> { places.keys }

    /// Whether an entry shows a previous image for an icon.
    func has(_ icon: IconURL) -> Bool { places[icon] != nil }

    /// The previous image that an entry shows; `nil` if it shows the icon's own, or none.
    func of(_ entry: Int, in list: ListName) -> PreviousImage? { entries[list]?[entry] }

    /// The previous image shown for an icon; if entries differ, the first one of the first list by name counts.
    func shown(for icon: IconURL) -> PreviousImage? {
        guard let lists = places[icon], let list = lists.keys.min(), let entry = lists[list]?.min() else { return nil }
        return entries[list]?[entry]
    }

    func all(for icon: IconURL) -> [PreviousImage] {
        (places[icon] ?? [:]).flatMap { list, numbers in numbers.compactMap { entries[list]?[$0] } }
    }

    /// The lists with entries that show a previous image for an icon, sorted.
    func lists(for icon: IconURL) -> [ListName] { places[icon]?.keys.sorted() ?? [] }

    /// The icons for which the image of a URL is shown, each with its lists; O(*n*) in the number of all previous
    /// images.
    func showing(imageOf url: IconURL) -> [IconURL: Set<ListName>] {
        guard sources[url] != nil else { return [:] }
        var found: [IconURL: Set<ListName>] = [:]
        for (icon, lists) in places {
            for (list, numbers) in lists where numbers.contains(where: { entries[list]?[$0]?.url == url }) {
                found[icon, default: []].insert(list)
            }
        }
        return found
    }

    /// The image of a URL, if an entry shows it as a previous one.
    func image(of url: IconURL) -> Boxed<AppListDocument.Image>? { sources[url]?.image }

    /// The earliest known time at which an app's URL changed; `nil` if none is known.
    var since: Timestamp? { entries.values.lazy.flatMap(\.values).compactMap(\.since).min() }

    /// Sets or replaces the previous image of an entry.
    mutating func set(_ previous: PreviousImage, for icon: IconURL, at entry: Int, in list: ListName) {
        if let last = entries[list, default: [:]].updateValue(previous, forKey: entry) { uncount(last) }
        sources[previous.url, default: (previous.image, 0)].entries += 1
        sources[previous.url]?.image = previous.image
        places[icon, default: [:]][list, default: []].insert(entry)
        iconsByList[list, default: []].insert(icon)
    }

    private mutating func uncount(_ previous: PreviousImage) {
        sources[previous.url]?.entries -= 1
        if sources[previous.url]?.entries == 0 { sources[previous.url] = nil }
    }

    /// Removes the previous images of a list.
    mutating func remove(_ list: ListName) {
        for previous in entries.removeValue(forKey: list)?.values.map(\.self) ?? [] { uncount(previous) }
        for icon in iconsByList.removeValue(forKey: list) ?? [] {
            places[icon]?[list] = nil
            if places[icon]?.isEmpty == true { places[icon] = nil }
        }
    }

    /// Removes and returns the previous images shown for an icon.
    mutating func remove(_ icon: IconURL) -> [PreviousImage] {
        var gone: [PreviousImage] = []
        for (list, numbers) in places.removeValue(forKey: icon) ?? [:] {
            for entry in numbers {
                guard let previous = entries[list]?.removeValue(forKey: entry) else { continue }
                uncount(previous)
                gone.append(previous)
            }
            if entries[list]?.isEmpty == true { entries[list] = nil }
            iconsByList[list]?.remove(icon)
            if iconsByList[list]?.isEmpty == true { iconsByList[list] = nil }
        }
        return gone
    }
}
