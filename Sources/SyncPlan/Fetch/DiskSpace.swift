// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import CacheFormat
package import HTTPRules

/// The total and free space of a file system (`statvfs(3)`).
package struct DiskSpace: Equatable, Sendable {
    package struct Amount: Equatable, Sendable {
        package var free: Int
        package var total: Int

        package init(free: Int, total: Int) { (self.free, self.total) = (free, total) }
    }

    package var folder: String
    package var bytes: Amount
    /// `nil` if the file system allocates inodes on demand.
    package var inodes: Amount?
    /// Whether it is mounted read-only, or became read-only after an error of the disk.
    package var isReadOnly: Bool

    package init(folder: String, bytes: Amount, inodes: Amount? = nil, isReadOnly: Bool = false) {
        (self.folder, self.bytes, self.inodes, self.isReadOnly) = (folder, bytes, inodes, isReadOnly)
    }

    /// The assumed size of an image before the server announces it, in bytes.
    ///
    /// If even this much is not free, requesting thousands of icons one by one would be futile.
    package static let usual = 64 << 10

    /// The shortage if a file of `count` bytes (`nil`: unknown) does not fit above the reserve; `nil` if it does.
    package func shortage(for count: Int?, above reserve: SpaceReserve) -> Shortage? {
        if isReadOnly {
            return Shortage(
                .outOfResources, bytes: count ?? Self.usual, isGeneral: true,
                reason: "the file system of \(folder) is read-only: mount it writable; the kernel's log may say why")
        }
        let isOutOfInodes = inodes.map { $0.free <= reserve.inodes(of: $0.total) } ?? false
        let room = isOutOfInodes ? -1 : bytes.free - reserve.bytes(of: bytes.total)
        let count = count ?? Self.usual
        guard count > room else { return nil }
        let state: String
        if let inodes, isOutOfInodes {
            state =
                "\(inodes.free) of \(inodes.total) inodes are free in \(folder), and cache.minFree (\(reserve)) "
                + "reserves \(reserve.inodes(of: inodes.total))"
        } else {
            state =
                "\(Self.text(bytes.free)) of \(Self.text(bytes.total)) are free in \(folder), and cache.minFree "
                + "(\(reserve)) reserves \(Self.text(reserve.bytes(of: bytes.total)))"
        }
        let isGeneral = room < Self.usual
        return Shortage(
            bytes: count, isGeneral: isGeneral,
            reason: isGeneral ? "only \(state)" : "\(Self.text(count)) do not fit: \(state)")
    }

    /// How many bytes of list documents may be written.
    ///
    /// Documents may use half of the reserve, but not all of it: urgent publications, such as the removal of a list,
    /// need the other half. A few KiB are always allowed.
    package func roomForDocuments(above reserve: SpaceReserve) -> Int {
        let kept = reserve.bytes(of: bytes.total)
        return max(bytes.free - kept, min(bytes.free - kept / 2, Self.usual), 4 << 10)
    }

    /// The shortage if list documents of `count` bytes do not fit; `nil` if they do.
    package func shortage(forDocuments count: Int, above reserve: SpaceReserve) -> Shortage? {
        guard count > roomForDocuments(above: reserve) else { return nil }
        return Shortage(
            bytes: count, isGeneral: false,
            reason: "\(Self.text(count)) of list documents do not fit: \(Self.text(bytes.free)) of "
                + "\(Self.text(bytes.total)) are free in \(folder), and cache.minFree (\(reserve)) reserves "
                + Self.text(reserve.bytes(of: bytes.total)))
    }

    private static func text(_ bytes: Int) -> String { ByteCount(bytes).rounded }
}
