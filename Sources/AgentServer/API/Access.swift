// SPDX-License-Identifier: Apache-2.0

/// What a client may do; each case includes the ones before.
package enum Access: Int, Comparable, Sendable {
    case none, read, change

    package static func < (a: Access, b: Access) -> Bool { a.rawValue < b.rawValue }
}

/// A client as identified by its listener.
package struct Caller: Equatable, Sendable {
    package var access: Access
    /// A sentence for clients that may not read: who may, and how to become one of them.
    package var howToRead: String
    /// A sentence for clients that may not change: who may, and how to become one of them.
    package var howToChange: String

    package init(access: Access, howToRead: String, howToChange: String) {
        self.access = access
        self.howToRead = howToRead
        self.howToChange = howToChange
    }

    /// A client that no listener identified.
    package static let unknown = Caller(
        access: .none, howToRead: "This listener serves no requests.", howToChange: "This listener serves no requests.")
}
