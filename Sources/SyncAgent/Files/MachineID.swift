// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import SystemPackage

/// The machine's ID (machine-id(5)), which copies of one disk image get anew at their first start.
enum MachineID {
    /// A digest of the ID, which is not to leave the machine as it is; `nil` if there is no ID yet.
    static let current: String? = {
        guard let text = try? FileBytes.read("/etc/machine-id") else { return nil }
        let id = text.prefix { $0 != UInt8(ascii: "\n") }
        return id.count == 32 ? Digest.of(Array("syncagent ".utf8) + id).hex : nil
    }()
}
