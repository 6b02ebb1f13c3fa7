// SPDX-License-Identifier: Apache-2.0

/// What the bytes of a property list tell of it before it is parsed.
package struct PropertyListOutline {
    /// The number of keys of the outermost dictionary, duplicates included; 0 if it is unknown.
    package var topKeys = 0
    /// Those of the identity keys that a dictionary may have; `nil` if it may have any.
    package var identityKeys: [String]?
}
