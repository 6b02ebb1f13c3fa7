// SPDX-License-Identifier: Apache-2.0

/// Why a new state database was begun in place of one that there was.
package enum StateLoss: String, CaseIterable, Sendable {
    /// It was damaged, and is set aside.
    case damaged
    /// It was removed, or its folder, while the agent ran.
    case removed
}
