// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A file that an exported manifest names.
package struct ExportFile: Hashable, Sendable {
    /// Its path, in the cache and in the export.
    package var path: String
    package var sha256: Digest
    package var bytes: Int

    package init(path: String, sha256: Digest, bytes: Int) {
        self.path = path
        self.sha256 = sha256
        self.bytes = bytes
    }

    /// Whether it is an image; else it is a list document.
    package var isIcon: Bool { path.hasPrefix("\(CacheLayout.icons)/") }
}

/// What there is at the target of an export.
package struct ExportContents: Equatable, Sendable {
    /// The sizes of the files, by path: those that a manifest may lead to, signatures, and the manifest.
    package var sizes: [String: Int] = [:]
    /// What kind of thing is at such a path that is no file: a symbolic link, for example.
    package var others: [String: String] = [:]
    /// Files that an interrupted export left incomplete.
    package var leftovers: [String] = []

    package init() {}

    /// The files that are missing, or have another size.
    package func missing(of files: [ExportFile]) -> [ExportFile] { files.filter { sizes[$0.path] != $0.bytes } }
}

/// Whether an export may replace the manifest that is at its target.
package enum ExportOrder: Equatable, Sendable {
    /// The target has this manifest already.
    case same
    /// The target has an older one.
    case newer
    /// The target has a newer one.
    case older
    /// The target has another one of the same moment and number.
    case conflict

    /// - Parameters:
    ///   - manifest: The manifest to export.
    ///   - other: The one at the target.
    ///   - isSameText: Whether both have the same bytes.
    package init(_ manifest: Manifest, over other: Manifest, isSameText: Bool) {
        // A cache that was purged and started anew counts from 1 again: the time comes first.
        let (mine, theirs) = (
            (manifest.published, manifest.generation), (other.published, other.generation)
        )
        self = isSameText ? .same : mine == theirs ? .conflict : mine < theirs ? .older : .newer
    }
}
