// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Values for tests.
package enum Sample {
    package static let time = Timestamp(sinceEpoch: .seconds(1_795_229_092))  // 2026-11-21T02:44:52Z

    /// What documents say of an image whose file has this text.
    package static func image(_ text: String) -> AppListDocument.Image {
        AppListDocument.Image(
            path: CacheLayout.image(.of(text), suffix: "png"), sha256: .of(text), bytes: text.utf8.count,
            type: "image/png", width: 64, height: 48)
    }

    /// A document of a list whose icons have images with these texts; `nil` stands for one that is pending.
    package static func document(_ list: ListName, _ icons: KeyValuePairs<IconURL, String?>) -> AppListDocument {
        document(
            list,
            apps: icons.map { url, text in
                AppListDocument.App(
                    name: nil, icon: url, download: nil, state: text.map { .ready(image($0)) } ?? .pending)
            })
    }

    package static func document(_ list: ListName, apps: [AppListDocument.App]) -> AppListDocument {
        AppListDocument(list: list, source: .init(sha256: .of(list.text), bytes: 2101, modified: time), apps: apps)
    }

    /// The manifest of a generation with these documents.
    package static func manifest(_ generation: Int, _ documents: [AppListDocument]) -> Manifest {
        var manifest = Manifest(generation: generation, published: time, lists: [:])
        for document in documents {
            manifest.lists[document.list] = Manifest.List(document, sha256: .of(document.json))
        }
        return manifest
    }
}

extension Manifest {
    /// The JSON text as a string.
    package var json: String { String(decoding: text, as: UTF8.self) }
}
