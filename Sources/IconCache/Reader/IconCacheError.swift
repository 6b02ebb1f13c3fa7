// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// The reason why a cache could not be read.
public enum IconCacheError: Error, Equatable, Sendable {
    /// The folder has no cache yet: there is no `manifest.json`.
    case noCache(path: String)
    /// A file could not be opened or read.
    case unreadable(path: String, errno: Errno)
    /// A file is missing, or its contents are invalid; `reason` is a clause.
    case damaged(path: String, reason: String)
    /// A file has a later format than this version of the library reads.
    case unknownFormat(path: String, format: Int)
}

extension IconCacheError {
    init(reading path: FilePath, _ errno: Errno) {
        self =
            switch errno {
            case FileBytes.notAFile: .damaged(path: path.string, reason: "it is not a regular file")
            case .fileTooLarge: .damaged(path: path.string, reason: "it is too large")
            default: .unreadable(path: path.string, errno: errno)
            }
    }

    package init(_ error: FormatError, in path: String) {
        self =
            switch error {
            case .damaged(let reason): .damaged(path: path, reason: reason)
            case .unknownFormat(let format): .unknownFormat(path: path, format: format)
            }
    }

    /// Whether a file may be gone because there is a newer generation.
    var mayMeanReplaced: Bool {
        if case .unreadable(_, let errno) = self { errno.mayMeanReplaced } else { false }
    }

    /// Parses a document, and adds the path of its file to errors.
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
