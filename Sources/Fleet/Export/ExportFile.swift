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
    package var isIcon: Bool { path.starts(withBytes: "\(CacheLayout.icons)/") }
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
