package import AppLists
// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The URL of a folder on a server that has a copy of another agent's cache.
package struct UpstreamURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest URL accepted, in bytes; the paths in the folder follow it.
    private static let maxLength = 2048

    /// The folder; its URL ends with “/”.
    package let folder: FetchTarget

    /// Parses a folder's URL, with or without a final “/”; `nil` if it may not be requested, has a query, or names a
    /// file of an export.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxLength, !text.utf8.contains(where: "?#".utf8.contains), !Self.namesFile(text),
            let folder = try? FetchTarget(text.ends(withBytes: "/") ? text : text + "/")
        else { return nil }
        self.folder = folder
    }

    package func file(_ path: String) -> FetchTarget {
        guard let target = try? FetchTarget(folder.url + path) else {
            preconditionFailure("paths of a cache need no escapes")
        }
        return target
    }

    /// Whether a URL ends like that of a file of an export.
    private static func namesFile(_ url: String) -> Bool {
        // The first two components are the scheme and the host.
        let names = url.split(atByte: "/").dropFirst(2)
        return names.last == CacheLayout.manifest
            || (2...3).contains { ExportLayout.isNamed(names.suffix($0).joined(separator: "/")) }
    }

    package var description: String { folder.url }
}
