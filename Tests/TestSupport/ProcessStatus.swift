// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// What the kernel tells of a process: `/proc/PID/status` (proc_pid_status(5)).
package struct ProcessStatus {
    private let fields: [Substring: Substring]

    /// - Throws: An error if there is no such process.
    package init(of process: Int32) throws {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        var fields: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[colon...].dropFirst().drop { $0 == "\t" || $0 == " " }
        }
        self.fields = fields
    }

    /// A field's value as it is written.
    package subscript(field: String) -> String? { fields[field[...]].map(String.init) }

    /// The most memory that the process ever had, in KiB.
    package var peakMemory: Int? { self["VmHWM"].flatMap { Int($0.prefix { $0 != " " }) } }
}
