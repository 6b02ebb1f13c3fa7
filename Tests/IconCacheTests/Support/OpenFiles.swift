// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage

/// The file descriptors of this process that have to do with one folder: tests beside this one have files of their own.
struct OpenFiles {
    let folder: FilePath

    /// How many files in the folder are open, removed ones included.
    func count() throws -> Int {
        try descriptors { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return path?.hasPrefix(folder.string + "/") ?? false
        }
    }

    /// How many inotify instances have a watch on the folder.
    func inotifyCount() throws -> Int {
        let inode = " ino:\(String(try folder.stat().inode.rawValue, radix: 16)) "
        return try descriptors { descriptor in
            let info = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
            return info?.split(separator: "\n").contains { $0.hasPrefix("inotify ") && $0.contains(inode) } ?? false
        }
    }

    private func descriptors(where isCounted: (String) -> Bool) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count(where: isCounted)
    }
}
