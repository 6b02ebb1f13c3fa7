// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage

/// A descriptor that is closed with its last reference.
package final class OwnedDescriptor: Sendable {
    /// The two ends of a pipe or a socket pair.
    typealias Pair = (mine: OwnedDescriptor, theirs: OwnedDescriptor)

    package let raw: Int32

    package init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// A pipe; the reading end is `mine`.
    static func pipe() throws(Errno) -> Pair {
        try pair { pipe2(&$0, O_CLOEXEC) }
    }

    static func socketPair() throws(Errno) -> Pair {
        try pair { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &$0) }
    }

    private static func pair(_ make: (inout [Int32]) -> Int32) throws(Errno) -> Pair {
        var ends: [Int32] = [-1, -1]
        guard make(&ends) == 0 else { throw Errno(rawValue: errno) }
        let (mine, theirs) = (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
        return (try mine.beyondStandard(), try theirs.beyondStandard())
    }

    /// Moves a descriptor above 2, if it took the number of a standard stream that was closed.
    private func beyondStandard() throws(Errno) -> OwnedDescriptor {
        guard raw <= STDERR_FILENO else { return self }
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard copy >= 0 else { throw Errno(rawValue: errno) }
        return OwnedDescriptor(copy)
    }

    /// Reads the available bytes; empty at the end and on errors.
    func read(upTo limit: Int = 1 << 16) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            repeat { count = Glibc.read(raw, buffer.baseAddress, limit) } while count < 0 && errno == EINTR
            count = max(0, count)
        }
    }
}
