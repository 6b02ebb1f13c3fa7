// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// The present run of the kernel (`boot_id`; random(4)): what was written during it is not lost, whatever ends the agent.
enum BootID {
    /// Another text after each start of the machine; `nil` where /proc does not tell it.
    static let current: String? = {
        guard let text = try? FileBytes.read("/proc/sys/kernel/random/boot_id") else { return nil }
        let id = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return id.isEmpty ? nil : id
    }()
}
