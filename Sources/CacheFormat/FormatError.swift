// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the document that they should be.
package enum FormatError: Error, Equatable, Sendable {
    /// They are something else, or broken; the reason is a clause.
    case damaged(String)
    /// They have a format that a later version of this code reads.
    case unknownFormat(Int)
}
