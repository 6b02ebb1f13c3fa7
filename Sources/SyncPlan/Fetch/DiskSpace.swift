// SPDX-License-Identifier: Apache-2.0
import CacheFormat

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

/// There was no room for something on the file system of the cache, or no other means that the agent needs.
package struct Shortage: Error, Equatable, Sendable {
    /// What there is not enough of, as a stable word for scripts.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        case diskFull = "disk-full"
        /// File descriptors, memory or processes: limits of the agent or of the system.
        case outOfResources = "out-of-resources"

        package var description: String { rawValue }
    }

    package var code: Code
    /// How many bytes there was no room for.
    package var bytes: Int
    /// Whether there is no room for an image of usual size either.
    package var isGeneral: Bool
    /// What there is and what is missing, as a sentence without its full stop.
    package var reason: String

    package init(_ code: Code = .diskFull, bytes: Int, isGeneral: Bool, reason: String) {
        self.code = code
        self.bytes = bytes
        self.isGeneral = isGeneral
        self.reason = reason
    }
}
