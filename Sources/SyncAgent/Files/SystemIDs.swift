// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import SystemPackage

/// The current boot (`boot_id`; random(4)): data written during it is intact however the agent ended.
enum BootID {
    /// The boot's ID; `nil` if /proc does not provide it.
    static let current = FileBytes.firstLine(of: "/proc/sys/kernel/random/boot_id")
}

/// The machine's ID (machine-id(5)), which copies of one disk image get anew at their first start.
enum MachineID {
    /// A digest of the ID, which is not to leave the machine as it is; `nil` if there is no ID yet.
    static let current = FileBytes.firstLine(of: "/etc/machine-id").flatMap { id in
        id.utf8.count == 32 ? Digest.of("syncagent \(id)").hex : nil
    }
}

extension FileBytes {
    /// The first line of a file of the system; `nil` if it is empty, or the file cannot be read.
    fileprivate static func firstLine(of path: FilePath) -> String? {
        guard let text = try? read(path) else { return nil }
        let line = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.isEmpty ? nil : line
    }
}
