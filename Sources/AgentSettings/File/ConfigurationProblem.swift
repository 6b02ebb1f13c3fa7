// SPDX-License-Identifier: Apache-2.0

package struct ConfigurationProblem: Error, Equatable, CustomStringConvertible, Sendable {
    /// The file and line, the variable or the option.
    package var place: String
    /// The problem, as a sentence.
    package var message: String

    package init(_ place: String, _ message: String) {
        self.place = place
        self.message = message
    }

    package var description: String { "\(place): \(message)" }
}

package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    package var problems: [ConfigurationProblem]

    package init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// The first problem, and the number of other problems.
    package var description: String {
        guard let first = problems.first else { return "" }
        return problems.count == 1 ? "\(first)" : "\(first) (and \(problems.count - 1) more)"
    }
}
