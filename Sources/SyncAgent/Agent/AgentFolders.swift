// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

package struct AgentFolders: Equatable, Sendable {
    /// Where users drop app lists.
    package var lists: FilePath
    /// Where readers find icons.
    package var cache: FilePath
    package var state: FilePath
    package var socket: FilePath

    package init(lists: FilePath, cache: FilePath, state: FilePath, socket: FilePath) {
        self.lists = lists
        self.cache = cache
        self.state = state
        self.socket = socket
    }

    package static func make(_ path: FilePath, mode: FilePermissions) throws(FileError) {
        var status = stat()
        if stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        let parent = path.removingLastComponent()
        if !parent.isEmpty, parent != path {
            try make(parent, mode: [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute])
        }
        guard mkdir(path.string, mode.rawValue) == 0 || errno == EEXIST else {
            throw FileError("create the folder", path.string, Errno(rawValue: errno))
        }
        guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError("open the folder", path.string, .notDirectory)
        }
    }
}
