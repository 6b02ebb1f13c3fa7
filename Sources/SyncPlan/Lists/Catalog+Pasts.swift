// SPDX-License-Identifier: Apache-2.0
import CacheFormat

// An app shows its last image while its icon has none.
extension Catalog {
    /// Indexes of the apps with a past; takes no memory while there are none.
    struct PastIndex: Sendable {
        /// The apps that show their last images, by their icon.
        fileprivate var apps: [IconURL: Set<AppIndex>] = [:]
        /// The same apps, by the URL that their last image came from: two of them may have different images of one URL.
        fileprivate(set) var sources: [IconURL: Set<AppIndex>] = [:]
        /// The lists with apps whose past is more than a last image, and perhaps some other lists.
        var unsettled: Set<ListName> = []

        mutating func record(_ new: App.Past, after old: App.Past, of app: AppIndex, showing icon: IconURL) {
            if new.before != nil || new.coming != nil { unsettled.insert(app.list) }
            guard new.last != old.last else { return }
            if let last = old.last {
                Self.remove(app, of: last.url, from: &sources)
                Self.remove(app, of: icon, from: &apps)
            }
            if let last = new.last {
                sources[last.url, default: []].insert(app)
                apps[icon, default: []].insert(app)
            }
        }

        private static func remove(_ app: AppIndex, of url: IconURL, from index: inout [IconURL: Set<AppIndex>]) {
            index[url]?.remove(app)
            if index[url]?.isEmpty == true { index[url] = nil }
        }
    }

    var hasLastImages: Bool { !pastIndex.apps.isEmpty }

    /// The icons without an image whose apps show their last ones.
    var iconsReplaced: some Collection<IconURL> { pastIndex.apps.keys }

    /// Whether an icon has no image, and an app shows its last image in place of the icon.
    func isReplaced(_ icon: IconURL) -> Bool { hasLastImages && pastIndex.apps[icon] != nil }

    /// The image shown for an icon: its own, or else the last image of an app.
    func shownImage(for icon: IconURL) -> ImageID? { icons[icon]?.image ?? lastImage(for: icon)?.image }

    /// The last image shown in place of an icon; if apps differ, the first one of the first list by name counts.
    func lastImage(for icon: IconURL) -> App.LastImage? { pastIndex.apps[icon]?.min().flatMap(lastImage) }

    func lastImages(for icon: IconURL) -> [App.LastImage] { apps(replacing: icon).compactMap(lastImage) }

    /// Whether apps show last images in place of this icon, and no other icon or app shows these images: they leave once
    /// the icon has an image of its own.
    func isReplacedAlone(_ icon: IconURL) -> Bool {
        var counts: [ImageID: Int32] = [:]
        for last in lastImages(for: icon) { counts[last.image, default: 0] += 1 }
        return !counts.isEmpty && counts.allSatisfy { images[$0.key].icons == $0.value }
    }

    private func lastImage(of app: AppIndex) -> App.LastImage? { lists[app.list]?.apps[past: app.position].last }

    private func apps(replacing icon: IconURL) -> [AppIndex] {
        hasLastImages ? pastIndex.apps[icon]?.sorted() ?? [] : []
    }

    /// The lists with apps that show their last image in place of an icon, sorted.
    func lists(replacing icon: IconURL) -> [ListName] { Set(pastIndex.apps[icon]?.map(\.list) ?? []).sorted() }

    /// The image of a URL, if an app shows it as its last one; if apps differ, the first app of the first list by name
    /// counts.
    func lastImage(from url: IconURL) -> ImageID? { pastIndex.sources[url]?.min().flatMap(lastImage)?.image }

    /// The icons in place of which the image of a URL is shown, each with its lists; O(*n*) in the number of all last
    /// images.
    func icons(replacedByImageOf url: IconURL) -> [IconURL: Set<ListName>] {
        guard pastIndex.sources[url] != nil else { return [:] }
        return pastIndex.apps.compactMapValues { apps in
            let lists = Set(apps.filter { lastImage(of: $0)?.url == url }.map(\.list))
            return lists.isEmpty ? nil : lists
        }
    }

    /// Ends showing last images in place of an icon that has its own image now.
    ///
    /// They are shown again if an image that was not `published` with a download turns out to be missing.
    mutating func endReplacing(_ icon: IconURL, published: Bool) {
        for app in apps(replacing: icon) {
            changePast(of: app) { past in
                if !published, past.before == nil { past.before = past.last }
                past.last = nil
            }
        }
    }
}

extension AppListDocument.App {
    /// Shows the app's last image in an entry whose icon has none.
    mutating func show(_ last: App.LastImage, _ image: AppListDocument.Image) {
        let error: String?
        switch state {
        case .ready: return
        case .pending: error = nil
        case .failed(let code): error = code
        }
        state = .ready(image)
        previous = AppListDocument.Previous(icon: last.url, since: last.since, error: error)
    }
}
