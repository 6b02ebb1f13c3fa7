// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SystemPackage

/// What came of a program that ran to its end.
package struct Program {
    package let output: String
    package let messages: String
    /// Its exit code; `nil` if a signal ended it.
    package let code: Int?

    /// Runs a program from the `PATH`, or at a path.
    ///
    /// - Parameters:
    ///   - command: The program, and its arguments.
    ///   - text: What it reads from stdin.
    ///   - environment: What its environment has besides that of the tests.
    /// - Returns: What it wrote, and how it ended.
    /// - Throws: An error if it cannot be started.
    package static func run(
        _ command: String..., reading text: String = "", environment: [String: String] = [:]
    ) async throws -> Program {
        try await run(command, reading: text, environment: environment)
    }

    /// The same with the program and its arguments as a list.
    package static func run(
        _ command: [String], reading text: String = "", environment: [String: String] = [:]
    ) async throws -> Program {
        let variables = environment.map { (Environment.Key(stringLiteral: $0), String?.some($1)) }
        let program = command[0]
        let result = try await Subprocess.run(
            program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(Array(command.dropFirst())),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: variables)), input: .string(text),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        let code: Int? = if case .exited(let code) = result.terminationStatus { Int(code) } else { nil }
        return Program(output: result.standardOutput, messages: result.standardError, code: code)
    }
}
