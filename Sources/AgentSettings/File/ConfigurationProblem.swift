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
