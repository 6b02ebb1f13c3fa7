// SPDX-License-Identifier: Apache-2.0
import Glibc
package import HTTPRules
package import SystemPackage

extension Shortage {
    /// The resource of the agent that a system error reports as exhausted; `nil` for any other error.
    ///
    /// Such a shortage is not a failure of a list or an icon: the operation is retried, and the list or icon keeps its
    /// state.
    package init?(_ errno: Errno) {
        guard let reason = Self.reason(errno) else { return nil }
        self.init(.outOfResources, bytes: 0, isGeneral: true, reason: reason)
    }

    /// The shortage because of which a file of `bytes` bytes was not written; `nil` if the error has another cause.
    init?(_ error: FileError, of bytes: Int) {
        if error.isOutOfSpace {
            self.init(bytes: bytes, isGeneral: true, reason: "\(error)")
        } else {
            self.init(error.errno)
        }
    }

    private static func reason(_ errno: Errno) -> String? {
        switch errno {
        case .tooManyOpenFiles:
            "the open file limit of the agent is reached (EMFILE): raise LimitNOFILE= in its unit, or ulimit -n"
        case .tooManyOpenFilesInSystem: "the open file limit of the system is reached (ENFILE): raise fs.file-max"
        case .noMemory: "the system is out of memory (ENOMEM)"
        case .noBufferSpace: "the system is out of memory for sockets (ENOBUFS)"
        case .readOnlyFileSystem:
            "the file system of the cache is read-only (EROFS): mount it writable; the kernel's log may say why"
        default: nil
        }
    }

    /// The descriptors that must be free to read a list: for the parser, and for the work that the list causes.
    private static let spareDescriptors = 24

    /// Checks that enough descriptors are free to read a list.
    ///
    /// With too few, a list could be read and its icons downloaded but not published: the icons would fail.
    ///
    /// - Parameter held: The number of descriptors already open for the list.
    /// - Returns: The shortage because of which no list can be read now; `nil` if enough are free.
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

    /// As ``init(_:)``, for the start of a process, where EAGAIN means too many processes.
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
