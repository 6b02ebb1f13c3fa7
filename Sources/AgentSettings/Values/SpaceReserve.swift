// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The part of a file system that stays free: a percentage, or a size.
package enum SpaceReserve: Hashable, CustomStringConvertible, Sendable {
    case percent(Int)
    case bytes(ByteCount)

    /// The reserve for publications, even on a small file system: documents may use space that images may not.
    private static let least = (bytes: 64 << 10, inodes: 16)

    /// Parses a whole percentage up to 90 (`5%`), or a size (`500MiB`); `nil` for any other form.
    package init?(_ text: some StringProtocol) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        if text.dropFirst(digits.count).drop(while: { $0 == " " }) == "%" {
            guard let percent = Int(digits), percent <= 90 else { return nil }
            self = .percent(percent)
        } else {
            guard let bytes = ByteCount(text) else { return nil }
            self = .bytes(bytes)
        }
    }

    /// The number of bytes that stay free of `total` bytes; at least 64 KiB.
    package func bytes(of total: Int) -> Int {
        switch self {
        case .percent(let percent): max(Self.share(percent, of: total), Self.least.bytes)
        case .bytes(let count): max(count.bytes, Self.least.bytes)
        }
    }

    /// The number of inodes that stay free of `total` inodes: at least 16, and exactly 16 if the reserve is a size.
    package func inodes(of total: Int) -> Int {
        switch self {
        case .percent(let percent): max(Self.share(percent, of: total), Self.least.inodes)
        case .bytes: Self.least.inodes
        }
    }

    private static func share(_ percent: Int, of total: Int) -> Int {
        total / 100 * percent + total % 100 * percent / 100
    }

    package var description: String {
        switch self {
        case .percent(let percent): "\(percent)%"
        case .bytes(let count): count.description
        }
    }
}
