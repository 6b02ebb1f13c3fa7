// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncAgent
import Synchronization
import SystemPackage

/// The socket file that this agent made, which is removed at the end if it is still this one.
final class BoundSocket: Sendable {
    /// What tells it from a later one: the number of an inode that was freed may be used again.
    private struct Identity: Equatable {
        var device: DeviceID
        var inode: Inode
        var changed: Duration

        init?(_ path: FilePath) {
            guard let entry = try? path.stat(followTargetSymlink: false), entry.type == .socket else { return nil }
            (device, inode, changed) = (entry.deviceID, entry.inode, Duration(entry.st_ctim))
        }
    }

    private let path: FilePath
    private let identity = Mutex<Identity?>(nil)

    init(at path: FilePath) {
        self.path = path
    }

    /// Notes that the socket is there, with the mode that it is to have.
    func noteBound() {
        let found = Identity(path)
        identity.withLock { $0 = found }
    }

    /// Removes the file, if it is still the one that was noted.
    ///
    /// To be called while the socket still answers: another agent takes only a socket away that does not.
    func remove() {
        identity.withLock { identity in
            if let identity, Identity(path) == identity { unlink(path.string) }
            identity = nil
        }
    }
}
