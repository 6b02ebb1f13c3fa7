// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// The current boot (`boot_id`; random(4)): data written during it is intact however the agent ended.
enum BootID {
    /// The boot's ID; `nil` if /proc does not provide it.
    static let current: String? = {
        guard let text = try? FileBytes.read("/proc/sys/kernel/random/boot_id") else { return nil }
        let id = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return id.isEmpty ? nil : id
    }()
}
