// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Programs that a test needs, and that may not be on this machine.
package enum Tool {
    /// Whether all of these programs are on the `PATH`.
    package static func areInstalled(_ names: String...) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.allSatisfy { name in
            folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }
}
