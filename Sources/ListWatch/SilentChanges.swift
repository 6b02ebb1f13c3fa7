// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// Finds the changes of lists that cause no event in the folder: the target of a link is written or replaced, a link on
/// the way to it is changed, or the file is written by another hard link or below a mount.
///
/// It compares what stat(2) says of each list with what it said before.
struct SilentChanges {
    /// What tells one version of a file from another; `nil` for a link that leads nowhere.
    private struct Version: Equatable {
        var device: dev_t
        var inode: ino_t
        var size: off_t
        var times: [Int]

        init?(_ status: stat) {
            (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
            times = [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
        }
    }

    /// The shortest time between two looks, in nanoseconds.
    private static let pace = 2_000_000_000
    /// The longest, as a multiple of what a look takes: 0.5 % of the time.
    private static let rest = 200
    /// What a look may take to be repeated after each event.
    private static let cheap = 2_000_000

    private let folder: String
    private var versions: [[UInt8]: Version?] = [:]
    private var cost = 0
    private var next = 0

    init(folder: String) {
        self.folder = folder
        look()
    }

    /// Whether the next look is due.
    var isDue: Bool { Self.now >= next }

    /// The time until then in milliseconds, rounded up.
    var timeout: Int32 { Int32(clamping: max(0, (next - Self.now + 999_999) / 1_000_000)) }

    /// Looks at the lists if that is due, and records what changed; after an event only to know what it reported.
    mutating func look(isDue: Bool, _ events: inout EventSummary) {
        guard isDue || !events.areEmpty && cost <= Self.cheap else { return }
        let before = versions
        look()
        if versions != before { events.recordChange() }
    }

    private mutating func look() {
        let start = Self.now
        versions = [:]
        if let entries = opendir(folder) {
            defer { closedir(entries) }
            let descriptor = dirfd(entries)
            while let entry = readdir(entries) {
                withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                    tuple.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name in
                        let bytes = UnsafeBufferPointer(start: name, count: strlen(name)).map(UInt8.init(bitPattern:))
                        guard bytes.suffix(6).elementsEqual(".plist".utf8) else { return }
                        var status = stat()
                        versions[bytes] = .some(fstatat(descriptor, name, &status, 0) == 0 ? Version(status) : nil)
                    }
                }
            }
        }
        cost = Self.now - start
        next = Self.now + max(Self.pace, cost * Self.rest)
    }

    /// The time by a clock that is never set, in nanoseconds.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
