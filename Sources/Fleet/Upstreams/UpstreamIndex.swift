// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules
import ImageChecks

/// The entries for URLs in the documents of an upstream.
package struct UpstreamIndex: Equatable, Sendable {
    package enum Entry: Equatable, Sendable {
        case ready(UpstreamFile)
        case pending
        /// The icon failed at the upstream; an unknown code of a later version counts as pending instead.
        case failed(FetchFailure.Code)

        /// The precedence among entries for one URL in a generation's documents; the highest counts.
        fileprivate var rank: Int {
            switch self {
            case .ready: 2
            case .failed: 1
            case .pending: 0
            }
        }
    }

    package struct Document: Equatable, Sendable {
        fileprivate var entries: [(key: Key, entry: Entry)] = []
        /// Renditions of images, by original and size in pixels.
        fileprivate var renditions: [Digest: [Int: UpstreamRendition]] = [:]

        init(capacity: Int) { entries.reserveCapacity(capacity) }

        mutating func append(_ url: IconURL, _ entry: Entry) { entries.append((Key(url), entry)) }

        /// Adds the renditions of an app's image in these sizes, in pixels.
        mutating func appendRenditions(of app: AppListDocument.App, in pixels: Set<Int>) {
            guard case .ready(let original) = app.state else { return }
            for rendition in app.renditions where pixels.contains(rendition.size.pixels) {
                guard let found = UpstreamRendition(rendition.image) else { continue }
                renditions[original.sha256, default: [:]][rendition.size.pixels] = found
            }
        }

        /// The number of entries, including duplicates.
        package var count: Int { entries.count }

        package static func == (a: Document, b: Document) -> Bool {
            a.entries.elementsEqual(b.entries) { $0.key == $1.key && $0.entry == $1.entry }
                && a.renditions == b.renditions
        }
    }

    /// Half of the SHA-256 of a URL, stored instead of the URL to save memory.
    fileprivate struct Key: Hashable, Sendable {
        private let high, low: UInt64

        init(_ url: IconURL) { (high, low) = Digest.of(url.text).half }
    }

    private struct Place: Sendable {
        let document, entry: UInt32
    }

    package let documents: [Digest: Document]
    private let numbered: [Document]
    /// The entry with the highest precedence for each URL.
    private let places: [Key: Place]
    private let renditions: [Digest: [Int: UpstreamRendition]]

    package init(_ documents: [Digest: Document] = [:]) {
        self.documents = documents
        numbered = Array(documents.values)
        var places: [Key: Place] = [:]
        places.reserveCapacity(numbered.reduce(0) { $0 + $1.count })
        for (number, document) in numbered.enumerated() {
            for (index, (key, entry)) in document.entries.enumerated() {
                if let other = places[key], Self.entry(at: other, in: numbered).rank >= entry.rank { continue }
                places[key] = Place(document: UInt32(number), entry: UInt32(index))
            }
        }
        self.places = places
        renditions = numbered.reduce(into: [:]) { all, document in
            all.merge(document.renditions) { $0.merging($1) { first, _ in first } }
        }
    }

    /// The rendition of an image; `nil` if the image has none of this size, or renditions of this size are not kept.
    package func rendition(of original: Digest, pixels: Int) -> UpstreamRendition? { renditions[original]?[pixels] }

    private static func entry(at place: Place, in documents: [Document]) -> Entry {
        documents[Int(place.document)].entries[Int(place.entry)].entry
    }

    package subscript(url: IconURL) -> Entry? { places[Key(url)].map { Self.entry(at: $0, in: numbered) } }

    package static func == (a: UpstreamIndex, b: UpstreamIndex) -> Bool { a.documents == b.documents }
}

package struct UpstreamFile: Hashable, Sendable {
    package var sha256: Digest
    package var bytes: Int
    /// The suffix of the file's name; with the digest it gives the path.
    private var suffix: String

    package init(_ image: AppListDocument.Image) {
        (sha256, bytes, suffix) = (image.sha256, image.bytes, image.plainSuffix ?? "")
    }

    package var path: String { CacheLayout.image(sha256, suffix: suffix) }
}

/// An image in another size.
package struct UpstreamRendition: Hashable, Sendable {
    package var file: UpstreamFile
    /// The sides, in pixels.
    package var width, height: Int

    /// Reads a rendition; `nil` if no agent can have written it.
    init?(_ image: AppListDocument.Image) {
        guard image.bytes > 0, image.hasPlainPath else { return nil }
        (file, width, height) = (UpstreamFile(image), image.width, image.height)
    }
}

extension UpstreamIndex.Entry {
    /// The entry for an app's icon; a previous image of the app does not count as the icon's.
    init(_ app: AppListDocument.App) {
        let state = app.previous.map { $0.error.map { .failed(error: $0) } ?? .pending } ?? app.state
        switch state {
        // No agent writes an empty image, or a path of another form.
        case .ready(let image) where image.bytes > 0 && image.hasPlainPath: self = .ready(UpstreamFile(image))
        case .ready, .pending: self = .pending
        case .failed(let text): self = FetchFailure.Code(rawValue: text).map { .failed($0) } ?? .pending
        }
    }
}

extension FetchFailure.Code {
    /// Whether the failure applies to every machine, and for long.
    ///
    /// Failures that depend on the upstream's settings and network do not count.
    var isSharedByMachines: Bool {
        switch self {
        case .http: [.lasting, .forbidden, .gone].contains(persistence)
        case .image(.damaged), .image(.notAnImage), .image(.unsafe): true
        case .image, .fetch, .url: false
        }
    }
}
