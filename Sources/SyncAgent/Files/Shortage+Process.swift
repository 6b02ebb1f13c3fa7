// SPDX-License-Identifier: Apache-2.0
import Glibc
package import HTTPRules
import SyncPlan
package import SystemPackage

extension Shortage {
    /// What an error of the system says of the agent's own means; `nil` if it says something else.
    ///
    /// It is nobody's failure: what met it is tried again, and keeps the state that it has.
    package init?(_ errno: Errno) {
        guard let reason = Self.reason(errno) else { return nil }
        self.init(.outOfResources, bytes: 0, isGeneral: true, reason: reason)
    }

    private static func reason(_ errno: Errno) -> String? {
        switch errno {
        case .tooManyOpenFiles:
            "the open file limit of the agent is reached (EMFILE): raise LimitNOFILE= in its unit, or ulimit -n"
        case .tooManyOpenFilesInSystem: "the open file limit of the system is reached (ENFILE): raise fs.file-max"
        case .noMemory: "the system is out of memory (ENOMEM)"
        case .noBufferSpace: "the system is out of memory for sockets (ENOBUFS)"
        default: nil
        }
    }

    /// How many descriptors are to be left when a list is read: for the process, and for what the list then has to be done.
    private static let spareDescriptors = 24

    /// Looks whether there are descriptors enough to read a list.
    ///
    /// With few left, a list could be read and its icons be downloaded, but then not be published: icons would fail.
    ///
    /// - Parameter held: How many are open for the list already.
    /// - Returns: Why no list can be read now; `nil` if there are enough.
    package static func ofDescriptors(besides held: Int = 0) -> Shortage? {
        var copies: [CInt] = []
        defer { for copy in copies { close(copy) } }
        for _ in 0..<spareDescriptors - held {
            let copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return Shortage(Errno(rawValue: errno)) }
            copies.append(copy)
        }
        return nil
    }

    /// The same for an error of the start of a process, for which EAGAIN means that there are too many.
    package init?(starting errno: Errno) {
        if errno == .resourceTemporarilyUnavailable {
            self.init(
                .outOfResources, bytes: 0, isGeneral: true,
                reason: "the process limit is reached (EAGAIN): raise TasksMax= in the unit, or ulimit -u")
        } else {
            self.init(errno)
        }
    }
}
