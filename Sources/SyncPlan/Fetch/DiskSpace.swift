// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import CacheFormat
package import HTTPRules

/// What a file system has, and what of it is free to the agent (`statvfs(3)`).
package struct DiskSpace: Equatable, Sendable {
    package struct Amount: Equatable, Sendable {
        package var free: Int
        package var total: Int

        package init(free: Int, total: Int) {
            self.free = free
            self.total = total
        }
    }

    /// The folder that was asked about.
    package var folder: String
    package var bytes: Amount
    /// `nil` if the file system makes inodes as they are needed.
    package var inodes: Amount?

    package init(folder: String, bytes: Amount, inodes: Amount? = nil) {
        self.folder = folder
        self.bytes = bytes
        self.inodes = inodes
    }

    /// How large an image is taken to be before its server tells, in bytes.
    ///
    /// Where not even that fits, thousands of icons would be asked for in vain one by one.
    package static let usual = 64 << 10

    /// Whether there is room for a new file.
    ///
    /// - Parameters:
    ///   - count: How many bytes it has; `nil` if that is not known yet.
    ///   - reserve: What is left free in any case.
    /// - Returns: Why there is none; `nil` if there is.
    package func shortage(for count: Int?, above reserve: SpaceReserve) -> Shortage? {
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
    /// What is kept free is there for them, but not for long ones: some of it is left for what has to be published even
    /// then, as that a list is gone. A few KiB are tried in any case.
    package func roomForDocuments(above reserve: SpaceReserve) -> Int {
        let kept = reserve.bytes(of: bytes.total)
        return max(bytes.free - kept, min(bytes.free - kept / 2, Self.usual), 4 << 10)
    }

    /// Whether there is room for list documents of so many bytes.
    ///
    /// - Returns: Why there is none; `nil` if there is.
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
