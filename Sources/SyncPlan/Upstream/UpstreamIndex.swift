// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import ImageChecks

/// What the documents of an upstream say of URLs.
package struct UpstreamIndex: Equatable, Sendable {
    /// What an upstream says of a URL.
    package enum Entry: Equatable, Sendable {
        case ready(UpstreamFile)
        case pending
        case failed(FetchFailure.Code)

        /// Which of two counts if documents of one generation differ.
        fileprivate var rank: Int {
            switch self {
            case .ready: 2
            case .failed: 1
            case .pending: 0
            }
        }
    }

    /// One document: what it says of each URL.
    package struct Document: Equatable, Sendable {
        fileprivate var entries: [(key: Key, entry: Entry)]

        package init(_ document: AppListDocument) {
            entries = document.apps.map { (Key($0.icon), Entry($0.state)) }
        }

        /// What it says of each entry, in its order.
        var states: some Sequence<Entry> { entries.lazy.map(\.entry) }

        /// How many URLs it has, each as often as it names it.
        package var count: Int { entries.count }

        package static func == (a: Document, b: Document) -> Bool {
            a.entries.elementsEqual(b.entries) { $0.key == $1.key && $0.entry == $1.entry }
        }
    }

    /// Half of the SHA-256 of a URL: the text of the URL is not kept.
    fileprivate struct Key: Hashable, Sendable {
        private let high, low: UInt64

        init(_ url: IconURL) { (high, low) = Digest.of(url.text).half }
    }

    /// The documents by digest.
    package private(set) var documents: [Digest: Document]
    private var entries: [Key: Entry] = [:]

    package init(_ documents: [Digest: Document] = [:]) {
        self.documents = documents
        entries.reserveCapacity(documents.values.reduce(0) { $0 + $1.entries.count })
        for document in documents.values {
            for (key, entry) in document.entries {
                if let other = entries[key], other.rank >= entry.rank { continue }
                entries[key] = entry
            }
        }
    }

    package subscript(url: IconURL) -> Entry? { entries[Key(url)] }
}

/// An image of an upstream.
package struct UpstreamFile: Hashable, Sendable {
    package var sha256: Digest
    /// Its size.
    package var bytes: Int
    /// The suffix of its name, with which the path follows from the digest.
    private var suffix: String

    package init(_ image: AppListDocument.Image) {
        (sha256, bytes, suffix) = (image.sha256, image.bytes, String(image.path.suffix(while: { $0 != "." })))
    }

    /// The path in the folder of the upstream.
    package var path: String { CacheLayout.image(sha256, suffix: suffix) }
}

extension UpstreamIndex.Entry {
    /// The longest path of an image: `icons/`, two digits, the digest, and a short suffix.
    private static let longestPath = 90

    fileprivate init(_ state: AppListDocument.State) {
        switch state {
        case .ready(let image):
            let file = UpstreamFile(image)
            // A path of another form was written by no agent.
            let isPlain =
                image.bytes > 0 && image.path.utf8.count <= Self.longestPath && ExportLayout.isNamed(image.path)
            self = isPlain && file.path == image.path ? .ready(file) : .pending
        case .pending: self = .pending
        case .failed(let text):
            let code = FetchFailure.Code(rawValue: text)
            self = code.flatMap { $0.isSharedByMachines ? .failed($0) : nil } ?? .pending
        }
    }
}

extension FetchFailure.Code {
    /// Whether the failure is what an origin says to every machine, and says for long.
    ///
    /// The settings and the network of another machine say nothing of this one. A code of a later version says nothing
    /// at all.
    fileprivate var isSharedByMachines: Bool {
        switch self {
        case .http: [.lasting, .forbidden, .gone].contains(persistence)
        case .image(.damaged), .image(.notAnImage), .image(.unsafe): true
        case .image, .fetch, .url: false
        }
    }
}

extension StringProtocol {
    fileprivate func suffix(while holds: (Character) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, case let before = index(before: start), holds(self[before]) { start = before }
        return self[start...]
    }
}
