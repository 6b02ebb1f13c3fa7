// SPDX-License-Identifier: Apache-2.0

/// What is known about a property list before it is parsed.
package struct PropertyListOutline {
    /// The number of keys of the outermost dictionary, duplicates included; 0 if unknown.
    package var topKeys = 0
    /// The identity keys that a dictionary may have; `nil` for any.
    package var identityKeys: [String]?
}
