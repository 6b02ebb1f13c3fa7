// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

package struct ExportFile: Hashable, Sendable {
    /// The path, relative to the cache and to the export.
    package var path: String
    package var sha256: Digest
    package var bytes: Int

    package init(path: String, sha256: Digest, bytes: Int) {
        self.path = path
        self.sha256 = sha256
        self.bytes = bytes
    }

    /// Whether the file is an image rather than a list document.
    package var isIcon: Bool { path.starts(withBytes: "\(CacheLayout.icons)/") }
}

package struct ExportContents: Equatable, Sendable {
    /// The sizes of the files, by path: files that a manifest may lead to, signatures, and the manifest.
    package var sizes: [String: Int] = [:]
    /// The kinds of entries at such paths that are not files, for example symbolic links.
    package var others: [String: String] = [:]
    package var leftovers: [String] = []

    package init() {}

    package func missing(of files: [ExportFile]) -> [ExportFile] { files.filter { sizes[$0.path] != $0.bytes } }
}
