// SPDX-License-Identifier: Apache-2.0

/// Who may read the cache; the raw value is the mode of its folders.
package enum CacheMode: String, CaseIterable, Sendable {
    /// Everybody on the machine: folders 0755, files 0444.
    case everybody = "0755"
    /// The folder's group: folders 0750, files 0440.
    case group = "0750"

    /// The bits cleared in the modes of new files and folders (`umask(2)`).
    package var mask: UInt32 {
        switch self {
        case .everybody: 0o022
        case .group: 0o027
        }
    }
}
