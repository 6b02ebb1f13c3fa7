// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import SystemPackage

/// Programs that a test needs, and that may not be on this machine.
package enum Tool {
    /// A tool that did not do what it was to do.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// Whether all of these programs are there.
    package static func areInstalled(_ names: String...) -> Bool {
        names.allSatisfy { path($0) != nil }
    }

    /// Where a program lies: on the `PATH`, or where programs for administrators do.
    package static func path(_ name: String) -> FilePath? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin"]).map { FilePath($0).appending(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.string) }
    }

    /// Runs a program to its end.
    ///
    /// - Throws: ``Failure`` with what it wrote to stderr, unless it ends with 0.
    package static func run(_ name: String, _ arguments: String...) async throws {
        guard let path = path(name) else { throw Failure(description: "\(name) is not installed") }
        let end = try await Program.run([path.string] + arguments)
        guard end.code == 0 else {
            throw Failure(description: "\(name) ended with \(end.code.map(String.init) ?? "a signal"): \(end.messages)")
        }
    }
}

/// A number in the environment of the tests; `nil` if there is none.
package func environmentNumber(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
}
