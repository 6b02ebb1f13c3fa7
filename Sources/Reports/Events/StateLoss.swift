// SPDX-License-Identifier: Apache-2.0

/// Why a new state database replaced an existing one.
package enum StateLoss: String, CaseIterable, Sendable {
    /// The old database was damaged, and is set aside.
    case damaged
    /// The old database, or its folder, was removed while the agent ran.
    case removed
}
