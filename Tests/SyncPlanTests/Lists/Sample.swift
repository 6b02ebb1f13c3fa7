// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

@testable import AgentSettings
@testable import HTTPRules
@testable import SyncPlan

/// Values that stand for real ones.
enum Sample {
    /// A moment on which the times of a test build.
    static let start = Timestamp(sinceEpoch: .seconds(1_800_000_000))

    /// The image that a word stands for.
    static func image(_ word: String) -> AppListDocument.Image {
        let digest = Digest.of(word)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: 100 + word.utf8.count,
            type: "image/png", width: 64, height: 64)
    }

    /// The numbers of images that stand for these words.
    static let images: ImageTable = {
        var images = ImageTable()
        for word in ["u", "v", "w", "x", "y", "z", "old", "new"] { _ = images.id(of: image(word)) }
        return images
    }()

    /// The number of the image that a word stands for, in ``images`` and in ``catalog``.
    static func id(_ word: String) -> ImageID {
        guard let id = images.id(of: image(word).sha256) else { preconditionFailure("\(word) has no number") }
        return id
    }

    /// A catalog without lists and icons that knows ``images``.
    static var catalog: Catalog {
        var catalog = Catalog()
        catalog.images = images
        return catalog
    }

    /// The image in another size.
    static func rendition(
        of image: AppListDocument.Image, _ pixels: Int, by version: Int = 1
    ) -> AppListDocument.Image {
        let digest = Digest.of("\(image.sha256) \(pixels) \(version)")
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: pixels, type: "image/png",
            width: pixels, height: pixels)
    }

    /// An answer that tags the image, and says that it is fresh for a day.
    static func response(
        etag: String, at time: Timestamp = start, from url: String = "https://cdn.example/icon.png"
    ) -> StoredResponse {
        StoredResponse(
            url: url,
            fields: HTTPFields([("ETag", etag), ("Cache-Control", "max-age=86400")]), requestTime: time,
            responseTime: time)
    }

    /// The beginning of an image, whose first answer came at ``start`` or then.
    static func partial(
        of url: IconURL = "https://a.example/1.png", bytes: Int = 100_000, length: Int? = 200_000,
        at time: Timestamp = start
    ) -> PartialDownload? {
        var partial = PartialDownload(
            url: url, target: url.text, response: response(etag: "\"1\"", at: time, from: url.text), length: length)
        partial?.bytes = bytes
        return partial
    }

    static func entries(_ urls: [IconURL]) -> [AppEntry] {
        urls.map { AppEntry(name: "App", icon: $0) }
    }

    /// The file of a list that names these URLs.
    static func source(_ urls: [IconURL]) -> AppListDocument.Source {
        AppListDocument.Source(
            sha256: .of(urls.map(\.text).joined(separator: "\n")), bytes: urls.count, modified: start)
    }

    /// A list that names these URLs, as the lists folder has it.
    static func list(_ urls: [IconURL]) -> List { list(of: entries(urls)) }

    static func list(of entries: [AppEntry]) -> List {
        List(record: ListRecord(state: .ok, source: source(entries.map(\.icon))), entries: AppEntries(entries))
    }

    struct List {
        var record: ListRecord
        let entries: AppEntries
    }

    /// The lists folder.
    static let folder = ListedFolder(
        path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))

    static func reading(_ urls: [IconURL]) -> ListReading {
        ListReading(source: source(urls), verdict: .success(AppList(entries: entries(urls))))
    }

    /// A list with these entries, as the lists folder has it; apps and URLs both tell one version from another.
    static func reading(of entries: [AppEntry]) -> ListReading {
        ListReading(source: source(of: entries), verdict: verdict(of: entries))
    }

    /// The icon of an entry without a usable one.
    static let unusable: IconURL = ""

    /// What the parser says of these entries.
    static func verdict(of entries: [AppEntry]) -> ListVerdict {
        var list = AppList()
        for (number, entry) in entries.enumerated() {
            guard entry.icon == unusable else {
                list.entries.append(entry)
                continue
            }
            let problem = EntryProblem(keyPath: "[\(number)].icon", reason: "empty")
            list.problems.append(problem)
            list.unusable.append(
                UnusableEntry(
                    index: list.entries.count, name: entry.name, id: entry.id, keyPath: problem.keyPath))
        }
        guard list.entries.isEmpty, let problem = list.problems.first else { return .success(list) }
        return .failure(.noUsableEntry("\(problem)"))
    }

    static func source(of entries: [AppEntry]) -> AppListDocument.Source {
        source(entries.map { IconURL("\($0.id ?? "") \($0.icon)") })
    }

    /// A document with these URLs, each with the image that its word stands for.
    static func document(_ list: ListName, _ images: [IconURL: String]) -> AppListDocument {
        let apps = images.sorted { $0.key < $1.key }.map { url, word in
            AppListDocument.App(name: nil, icon: url, download: nil, state: .ready(image(word)))
        }
        return AppListDocument(list: list, source: source(images.keys.sorted()), apps: apps)
    }
}

extension Settings {
    /// The defaults, but that nothing is published when nothing changed: for what waits until all is at rest.
    static var withoutHeartbeat: Settings {
        var settings = Settings()
        settings.publish.heartbeat = .seconds(36_525 * 86_400)
        return settings
    }
}

extension Sample {
    /// A response that was asked for at ``start`` and came at once.
    static func response(
        _ fields: [(name: String, value: String)], redirectLifetime: Duration? = nil
    ) -> StoredResponse {
        StoredResponse(
            fields: HTTPFields(fields), requestTime: start, responseTime: start, redirectLifetime: redirectLifetime)
    }
}

extension Catalog {
    mutating func setList(_ name: ListName, _ list: Sample.List) -> IconDiff {
        setList(name, list.record, list.entries)
    }
}
