// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Finds the changes of lists that cause no event in the folder: the target of a link is written or replaced, a link on
/// the way to it is changed, or the file is written by another hard link or below a mount.
///
/// It compares what stat(2) says of all lists with what it said before.
struct SilentChanges {
    /// The shortest time between two looks, in nanoseconds.
    private static let pace = 2_000_000_000
    /// The time between a look and the next, at least, as a multiple of what it took: looks take 0.5 % of the time.
    private static let rest = 200
    /// The longest look; a folder that takes longer is left to the agent's own, and is tried again after ``patience``.
    private static let limit = 500_000_000
    private static let patience = 600_000_000_000

    private let folder: String
    /// The sum of the digests of all lists, in any order: of their names, numbers, sizes and times.
    ///
    /// `nil` if the last look took too long.
    private var sum: Int?
    private var end = 0
    private var cost = 0

    init(folder: String) {
        self.folder = folder
        look()
    }

    /// Whether the next look is due.
    var isDue: Bool { Self.now >= due }

    /// The time until then in milliseconds, rounded up.
    var timeout: Int32 { Int32(clamping: max(0, (due - Self.now + 999_999) / 1_000_000)) }

    private var due: Int { end + (sum == nil ? Self.patience : max(Self.pace, cost * Self.rest)) }

    /// Looks at the lists if that is due, and records what changed; before that, if there is a reason and looks are cheap.
    ///
    /// An event is a reason: what it reported is no change later on.
    mutating func look(hasReason: Bool, _ events: inout EventSummary) {
        guard isDue || (hasReason || !events.areEmpty) && Self.now >= end + cost * Self.rest else { return }
        let before = sum
        look()
        if let before, let sum, sum != before { events.recordChange() }
    }

    private mutating func look() {
        let start = Self.now
        var found: Int? = 0
        if let entries = opendir(folder) {
            defer { closedir(entries) }
            while let sum = found, let entry = readdir(entries) {
                found = Self.now - start > Self.limit ? nil : sum &+ Self.digest(of: entry, in: dirfd(entries))
            }
        }
        (sum, end) = (found, Self.now)
        cost = end - start
    }

    /// The digest of a list as it is now, also of a link that leads nowhere; 0 for a file with another suffix.
    private static func digest(of entry: UnsafeMutablePointer<dirent>, in folder: Int32) -> Int {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            let name = bytes.prefix { $0 != 0 }
            guard [".plist", ".json"].contains(where: { name.suffix($0.utf8.count).elementsEqual($0.utf8) }),
                let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            else { return 0 }
            var hasher = Hasher()
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: name))
            var status = stat()
            if fstatat(folder, start, &status, 0) == 0 {
                for number in [UInt64(status.st_dev), UInt64(status.st_ino)] { hasher.combine(number) }
                hasher.combine(status.st_size)
                for time in [status.st_mtim, status.st_ctim] {
                    hasher.combine(time.tv_sec)
                    hasher.combine(time.tv_nsec)
                }
            }
            return hasher.finalize()
        }
    }

    /// The time by a clock that is never set, in nanoseconds.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
