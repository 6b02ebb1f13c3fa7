// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

extension CacheFolder {
    /// Calls the body with the open folder that a path leads to, and the last name of the path.
    ///
    /// Each folder is opened by its name in the one before. `O_NOFOLLOW` alone is about the last name of a path only; and
    /// `openat2(2)`, which can refuse links all along the path, there is neither before Linux 5.6 nor in many containers,
    /// and not for renaming, linking and removing.
    @discardableResult
    func inFolder<R>(of path: String, _ body: (Int32, String) throws(FileError) -> R) throws(FileError) -> R {
        var names = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path == "." || names.allSatisfy({ !["", ".", ".."].contains($0) }), let last = names.popLast() else {
            throw failure("use", path, .invalidArgument)
        }
        var folder = descriptor.rawValue
        defer { if folder != descriptor.rawValue { close(folder) } }
        for name in names {
            let next = openat(folder, String(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw failure("open the folder of", path, Errno(rawValue: errno)) }
            if folder != descriptor.rawValue { close(folder) }
            folder = next
        }
        return try body(folder, String(last))
    }

    /// The same for two paths.
    @discardableResult
    func inFolders<R>(
        of path: String, _ other: String, _ body: (Int32, String, Int32, String) throws(FileError) -> R
    ) throws(FileError) -> R {
        try inFolder(of: path) { (folder, last) throws(FileError) in
            try inFolder(of: other) { (otherFolder, otherLast) throws(FileError) in
                try body(folder, last, otherFolder, otherLast)
            }
        }
    }
}
