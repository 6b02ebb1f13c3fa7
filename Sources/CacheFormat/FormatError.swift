// SPDX-License-Identifier: Apache-2.0

/// The reason why a manifest or a list document cannot be read.
package enum FormatError: Error, Equatable, Sendable {
    /// The bytes are another kind of file, or damaged; the reason is a clause.
    case damaged(String)
    /// The document has another format, with this version number.
    case unknownFormat(Int)
}
