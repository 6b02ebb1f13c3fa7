// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// Why a cache could not be read.
public enum IconCacheError: Error, Equatable, Sendable {
    /// There is no cache at this folder yet: it has no `manifest.json`.
    case noCache(path: String)
    /// A file could not be opened or read.
    case unreadable(path: String, errno: Errno)
    /// A file is not what its name says it is.
    case damaged(path: String, reason: String)
    /// A file has a format that a later version of the library reads.
    case unknownFormat(path: String, format: Int)
}

extension IconCacheError {
    /// What is wrong with the contents of a file.
    package init(_ error: FormatError, in path: String) {
        self =
            switch error {
            case .damaged(let reason): .damaged(path: path, reason: reason)
            case .unknownFormat(let format): .unknownFormat(path: path, format: format)
            }
    }

    /// The document that the contents of a file are.
    static func naming<Document>(
        _ path: String, _ parse: () throws(FormatError) -> Document
    ) throws(IconCacheError) -> Document {
        do {
            return try parse()
        } catch {
            throw IconCacheError(error, in: path)
        }
    }
}

extension IconCacheError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noCache(let path):
            "There is no icon cache at \(path): start syncagent, or name the cache folder it uses."
        case .unreadable(let path, let errno):
            "Cannot read \(path): \(errno)."
        case .damaged(let path, let reason):
            "\(path) is damaged: \(printable(reason)). Restart syncagent: it goes back to the newest good generation."
        case .unknownFormat(let path, let format):
            "\(path) has format \(format), and this program reads format \(CacheLayout.format): install a newer version of it."
        }
    }
}
