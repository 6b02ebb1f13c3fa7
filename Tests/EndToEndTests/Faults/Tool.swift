// SPDX-License-Identifier: Apache-2.0
import Glibc
import Subprocess
import SystemPackage

/// Programs of the system that tests of faults need, and that are not everywhere.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Whether the program is there.
    static func isThere(_ name: String) -> Bool { path(name) != nil }

    /// Where the program lies: on the `PATH`, or where programs for administrators do.
    static func path(_ name: String) -> FilePath? {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin"]).map { FilePath($0).appending(name) }
            .first { access($0.string, X_OK) == 0 }
    }

    /// Runs the program to its end.
    ///
    /// - Throws: ``Failure`` with what it wrote to stderr, unless it ends with 0.
    static func run(_ name: String, _ arguments: String...) async throws {
        guard let path = path(name) else { throw Failure(description: "\(name) is not there") }
        let result = try await Subprocess.run(
            .path(path), arguments: Arguments(arguments), output: .discarded, error: .string(limit: 1 << 16))
        guard result.terminationStatus == .exited(0) else {
            throw Failure(description: "\(name): \(result.terminationStatus), \(result.standardError)")
        }
    }
}

/// A number in the environment of the tests; `nil` if there is none.
func environmentNumber(_ variable: String) -> Int? {
    getenv(variable).flatMap { Int(String(cString: $0)) }
}
