// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The last image of an app whose icon has another URL now, of which there is no image yet.
package struct PreviousImage: Equatable, Sendable {
    /// The URL that the image came from.
    package var url: IconURL
    var image: Boxed<AppListDocument.Image>
    /// Since when the app has had another URL.
    package var since: Timestamp?

    init(_ url: IconURL, _ image: Boxed<AppListDocument.Image>, since: Timestamp?) {
        (self.url, self.image, self.since) = (url, image, since)
    }
}

/// Which entries show the last image of their app; none costs anything as long as there are none.
struct PreviousImages: Sendable {
    /// By list, and by the number of the entry in it.
    private(set) var entries: [ListName: [Int: PreviousImage]] = [:]
    /// The entries of each icon without an image.
    private var places: [IconURL: [ListName: Set<Int>]] = [:]
    /// The icons of each list that are in these places.
    private var iconsByList: [ListName: Set<IconURL>] = [:]
    /// The images by the URLs that they came from, with how many entries show them.
    private var sources: [IconURL: (image: Boxed<AppListDocument.Image>, entries: Int)] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The icons that have an image of another URL until their own comes.
    var icons: some Collection<IconURL> { places.keys }

    /// Whether an entry shows such an image in place of that of an icon.
    func has(_ icon: IconURL) -> Bool { places[icon] != nil }

    /// What an entry shows; `nil` if that is the image of its own icon, or none.
    func of(_ entry: Int, in list: ListName) -> PreviousImage? { entries[list]?[entry] }

    /// What is shown for an icon: where entries disagree, the first one of the first list by name counts.
    func shown(for icon: IconURL) -> PreviousImage? {
        guard let lists = places[icon], let list = lists.keys.min(), let entry = lists[list]?.min() else { return nil }
        return entries[list]?[entry]
    }

    /// All that is shown for an icon.
    func all(for icon: IconURL) -> [PreviousImage] {
        (places[icon] ?? [:]).flatMap { list, numbers in numbers.compactMap { entries[list]?[$0] } }
    }

    /// The lists with entries that show such an image for an icon, sorted.
    func lists(for icon: IconURL) -> [ListName] { places[icon]?.keys.sorted() ?? [] }

    /// The entries that show the image of a URL: the icons that they stand for, each with its lists.
    ///
    /// - Complexity: O(*n*) in the number of such entries of all lists.
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

    /// The image of a URL, if an entry shows it in place of that of its own.
    func image(of url: IconURL) -> Boxed<AppListDocument.Image>? { sources[url]?.image }

    /// When the first of the apps got another URL; `nil` if that is not known of any.
    var since: Timestamp? { entries.values.lazy.flatMap(\.values).compactMap(\.since).min() }

    /// Has an entry show an image, in place of what it showed.
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

    /// Takes out what a list shows.
    mutating func remove(_ list: ListName) {
        for previous in entries.removeValue(forKey: list)?.values.map(\.self) ?? [] { uncount(previous) }
        for icon in iconsByList.removeValue(forKey: list) ?? [] {
            places[icon]?[list] = nil
            if places[icon]?.isEmpty == true { places[icon] = nil }
        }
    }

    /// Takes out what is shown for an icon.
    ///
    /// - Returns: What that was.
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
