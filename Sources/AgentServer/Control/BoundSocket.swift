// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Synchronization
import SystemPackage

/// The socket file that this agent created; removed at the end unless another file replaced it.
final class BoundSocket: Sendable {
    private let path: FilePath
    private let identity = Mutex<FileIdentity?>(nil)

    init(at path: FilePath) {
        self.path = path
    }

    /// Records the identity of the socket, once it has its final mode.
    func recordBound() {
        let found = present
        identity.withLock { $0 = found }
    }

    /// The identity of the socket that is at the path now; `nil` if there is none.
    private var present: FileIdentity? {
        guard let entry = try? path.stat(followTargetSymlink: false), entry.type == .socket else { return nil }
        return FileIdentity(entry)
    }

    /// Whether the file was recorded, and nothing has its name now.
    var isMissing: Bool {
        guard identity.withLock({ $0 != nil }) else { return false }
        var status = stat()
        return lstat(path.string, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    /// Removes the file if it is still the recorded one.
    ///
    /// Call this while the socket still answers: another agent replaces only a socket that does not answer.
    func remove() {
        identity.withLock { identity in
            if let identity, present == identity { unlink(path.string) }
            identity = nil
        }
    }
}
