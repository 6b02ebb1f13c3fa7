// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The relative paths of an exported cache, and the HTTP cache lifetimes of its files.
package enum ExportLayout {
    /// A folder that only exports contain: it marks the target as an export.
    package static let own = ".syncagent-export"
    /// The file that records since when the manifest no longer names a file.
    package static let record = "\(own)/unnamed"

    /// The name of a file until it is complete, in the same folder; no reader looks for it.
    package static func temporary(_ path: String) -> String {
        let (folder, name) = parts(path)
        return "\(folder)\(prefix)\(name)\(suffix)"
    }

    /// Whether a path is the temporary one of a file that ``isNamed(_:)``.
    package static func isTemporary(_ path: String) -> Bool {
        let (folder, name) = parts(path)
        guard name.starts(withBytes: prefix), name.ends(withBytes: suffix) else { return false }
        return isNamed("\(folder)\(name.dropping(bytes: prefix.utf8.count).droppingLast(bytes: suffix.utf8.count))")
    }

    /// Whether a path is named by a digest, like the files that a manifest leads to and its signature.
    ///
    /// Files with other paths do not belong to the export, and are never removed.
    package static func isNamed(_ path: String) -> Bool {
        let names = path.split(atByte: "/", omittingEmpty: false)
        guard let file = names.last?.split(atByte: ".", maxSplits: 1, omittingEmpty: false), file.count == 2,
            let digest = Digest(hex: file[0])
        else {
            return false
        }
        let suffix = file[1]
        switch (names[0], names.count) {
        case (CacheLayout.icons, 3):
            return CacheLayout.isImageSuffix(suffix) && names[1] == digest.hex.prefix(2)
        case (CacheLayout.lists, 2): return suffix == "json"
        case (CacheLayout.signatures, 2): return suffix == "minisig"
        default: return false
        }
    }

    /// The `Cache-Control` field of a file.
    ///
    /// `no-cache` on the manifest would make most proxies ask their origin for each request.
    package static func cacheControl(of path: String) -> String {
        switch path {
        case CacheLayout.manifest: "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"
        case record: "no-store"
        default: "public, max-age=31536000, immutable"
        }
    }

    private static let (prefix, suffix) = (".", ".new")

    private static func parts(_ path: String) -> (folder: Substring, name: Substring) {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        return (path[..<start], path[start...])
    }
}
