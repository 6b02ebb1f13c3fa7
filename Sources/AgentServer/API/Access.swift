// SPDX-License-Identifier: Apache-2.0

/// What a client may do.
package enum Access: Int, Comparable, Sendable {
    case none, read, change

    package static func < (a: Access, b: Access) -> Bool { a.rawValue < b.rawValue }
}

/// A client, as its listener knows it.
package struct Caller: Equatable, Sendable {
    package var access: Access
    /// Who may read, and how to become one of them: a sentence for those who may not.
    package var howToRead: String
    /// Who may change things, and how to become one of them: a sentence for those who may not.
    package var howToChange: String

    package init(access: Access, howToRead: String, howToChange: String) {
        self.access = access
        self.howToRead = howToRead
        self.howToChange = howToChange
    }

    /// A client that no listener vouched for.
    package static let unknown = Caller(
        access: .none, howToRead: "This listener serves no requests.", howToChange: "This listener serves no requests.")
}
