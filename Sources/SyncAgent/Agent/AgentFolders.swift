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
        (self.lists, self.cache, self.state, self.socket) = (lists, cache, state, socket)
    }

    /// A link to the socket of the agent that started last, for commands without its environment: cron and sudo set no
    /// `XDG_RUNTIME_DIR`.
    package var socketLink: FilePath { state.appending("running.sock") }

    /// Makes ``socketLink``; commands that know the socket do without.
    package func linkSocket() {
        let new = state.appending("running.sock.new")
        unlink(new.string)
        guard symlink(socket.string, new.string) == 0, rename(new.string, socketLink.string) != 0 else { return }
        unlink(new.string)
    }

    package static func make(_ path: FilePath, mode: FilePermissions) throws(FileError) {
        var status = stat()
        if stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        let parent = path.removingLastComponent()
        if !parent.isEmpty, parent != path {
            try make(parent, mode: CacheFolder.openMode)
        }
        guard mkdir(path.string, mode.rawValue) == 0 || errno == EEXIST else {
            throw FileError("create the folder", path.string, Errno(rawValue: errno))
        }
        guard stat(path.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError("open the folder", path.string, .notDirectory)
        }
    }
}
