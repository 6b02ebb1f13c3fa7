// SPDX-License-Identifier: Apache-2.0

/// A text that no description, dump or error shows.
package struct Secret: Equatable, Sendable {
    /// The text itself, for the request only.
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
