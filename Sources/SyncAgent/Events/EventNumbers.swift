// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage

/// Reserved event numbers, in a file beside the journal, so that no number is used twice even if the journal is lost.
///
/// The reservation is durable before any of its numbers is used. It covers up to a million numbers, so it is seldom
/// written.
struct EventNumbers: Codable, Equatable {
    static let file = "events-numbers.json"
    private static let currentFormat = 1
    private static let longest = 4096
    static let highest = 2 * EventRing.highest

    private var format = currentFormat
    var first: Int
    var limit: Int

    init(first: Int, limit: Int) { (self.first, self.limit) = (first, limit) }

    /// The last number of the block of one million that contains `id`.
    static func limit(for id: Int) -> Int { EventRing.jump(after: max(0, id - 1)) - 1 }

    /// Reads the reservation; `nil` if the file is missing or damaged.
    static func read(in folder: FilePath) -> EventNumbers? {
        guard let bytes = try? FileBytes.read(folder.appending(file), upTo: longest),
            let numbers = try? JSONDecoder().decode(EventNumbers.self, untrusted: Data(bytes)),
            numbers.format == currentFormat, (1...highest).contains(numbers.first),
            (numbers.first...highest).contains(numbers.limit)
        else { return nil }
        return numbers
    }

    /// Writes the reservation durably.
    func write(in folder: FilePath) throws {
        let directory = try FileDescriptor.openFolder(folder)
        defer { try? directory.close() }
        let (path, temporary) = (folder.appending(Self.file).string, Self.file + ".new")
        guard unlinkat(directory.rawValue, temporary, 0) == 0 || errno == ENOENT else {
            throw FileError("remove", path, Errno(rawValue: errno))
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let number = try FileError.check("create", path, openat(directory.rawValue, temporary, flags, mode_t(0o600)))
        let file = FileDescriptor(rawValue: number)
        try file.closeAfter {
            try file.writeAll((JSON(self).line + "\n").utf8)
            try FileError.check("fsync", path, fsync(number))
        }
        let replaced = renameat(directory.rawValue, temporary, directory.rawValue, Self.file)
        try FileError.check("replace", path, replaced)
        try FileError.check("fsync", path, fsync(directory.rawValue))
    }
}
