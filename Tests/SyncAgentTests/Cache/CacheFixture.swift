// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import HTTPRules
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

/// A cache folder with what works on it.
struct CacheFixture {
    let path: FilePath
    let folder: CacheFolder
    let staged: StagedImages
    let staging: Staging
    let publisher: Publisher
    let evictor: Evictor
    /// What was found when the folder was opened.
    let restored: RestoredState

    /// Opens the folder as an agent does at its start.
    ///
    /// What is staged is in files, unless it is to be held. Names are made ahead after each `batch` images.
    init(
        _ path: FilePath, reserve: SpaceReserve = .percent(0), holdsImages: Bool = false, batch: Int = 1500
    ) throws {
        staged = StagedImages(batch: batch)
        if !holdsImages { staged.close() }
        self.path = path
        folder = try CacheFolder(path)
        restored = try StartUpRecovery.run(folder, logger: .silent)
        staging = Staging(folder, staged: staged, reserve: reserve, partials: restored.partials)
        let thread = FileThread("tests")
        publisher = Publisher(folder, staged: staged, thread: thread)
        evictor = Evictor(folder, thread: thread, logger: .silent)
    }

    /// Looks at the folder as an agent does first of all after its start.
    ///
    /// - Returns: The images that are missing, or not as they should be.
    func lookFirst() throws -> Set<Digest> {
        var urls: [IconURL: AppListDocument.Image] = [:]
        var images: [CacheExpectation.Naming] = []
        for document in restored.manifests.flatMap(\.lists.values).compactMap({ restored.documents[$0.sha256] }) {
            for app in document.apps {
                guard case .ready(let image) = app.state, !restored.missing.contains(image.sha256) else { continue }
                urls[app.icon] = image
                images.append(.init(image: image, url: nil))
            }
        }
        images += urls.map { .init(image: $0.value, url: $0.key) }
        let namings = CacheExpectation.Namings(images)
        var search = FolderSearch(folder, readMode: .ownerRead, removesOthers: true)
        var names: [String] = []
        try search.findImages(namings, isThorough: false, temporary: StagingPath.of("test"), &names)
        try search.findNames(of: namings, temporary: StagingPath.of("test"), &names)
        return restored.missing.union(search.lost)
    }

    /// Stages bytes as if they were a downloaded image.
    func stage(_ text: String) async throws -> StagedImage {
        StagedImage(name: try await staging.keep(Array(text.utf8)), image: Self.image(text))
    }

    /// The image that has these bytes.
    static func image(_ text: String) -> AppListDocument.Image {
        let digest = Digest.of(text)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: text.utf8.count, type: "image/png",
            width: 1, height: 1)
    }

    /// Publishes a generation with a list, whose icons have these contents, beside the lists of the generation before.
    @discardableResult
    func publish(
        _ generation: Int, _ icons: KeyValuePairs<IconURL, String>, new: Set<String>? = nil,
        list: ListName = "apps.plist", isPrivate: Bool = false
    ) async throws -> Manifest {
        var publication = Publication(generation: generation, published: Timestamp(sinceEpoch: .seconds(generation)))
        var apps: [AppListDocument.App] = []
        for (url, text) in icons {
            let staged = try await stage(text)
            if new?.contains(url.text) ?? true {
                publication.moves.append(staged)
                publication.links.append((url, staged.image.path, before: nil))
            } else {
                publication.discards.append(staged)
            }
            apps.append(AppListDocument.App(name: nil, icon: url, download: nil, state: .ready(staged.image)))
        }
        let source = AppListDocument.Source(
            sha256: .of("\(generation)"), bytes: 1, modified: Timestamp(sinceEpoch: .seconds(generation)))
        publication.documents = [AppListDocument(list: list, source: source, apps: apps)]
        publication.isPrivate = isPrivate
        publication.kept = (try? IconCache(at: path).manifest().lists) ?? [:]
        guard case .published(let manifest, _, nil) = await publisher.publish(publication) else {
            Issue.record("generation \(generation) was not published")
            return Manifest(generation: 0, published: publication.published, lists: [:])
        }
        return manifest
    }

    func exists(_ name: String) -> Bool { (try? folder.entry(name)) != nil }

    func names(in name: String) throws -> Set<String> {
        Set(try folder.names(in: name).map(\.name))
    }
}

extension PublicationResult {
    /// What was refused; `nil` for another result.
    var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}
