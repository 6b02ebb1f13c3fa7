// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// The URL of a folder, on a server or on this machine, that has a copy of another agent's cache.
package struct UpstreamURL: Hashable, Sendable, CustomStringConvertible {
    /// The longest URL accepted, in bytes; the paths in the folder follow it.
    private static let maxLength = 2048

    /// The folder; its URL ends with “/”.
    package let folder: FetchTarget

    /// Parses a folder's URL, with or without a final “/”; `nil` if it may not be requested, has a query, or names a
    /// file of an export.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxLength, !text.utf8.contains(where: "?#".utf8.contains), !Self.namesFile(text),
            case let text = text.ends(withBytes: "/") ? text : text + "/",
            let folder = FetchTarget.file(text) ?? (try? FetchTarget(text))
        else { return nil }
        self.folder = folder
    }

    package func file(_ path: String) -> FetchTarget {
        let url = folder.url + path
        guard let target = folder.isFile ? FetchTarget.file(url) : try? FetchTarget(url) else {
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
