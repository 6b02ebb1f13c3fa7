// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The result of reading the configuration again: the output of `syncagent reload`.
package struct ReloadReport: Codable, Equatable, Sendable {
    /// The settings that changed now.
    package var changed: [String]
    /// Changed settings that take effect only at a restart.
    package var needRestart: [String]
    /// The problems of the configuration, which is then not in force; empty if it is.
    package var errors: [String]

    package init(changed: [String] = [], needRestart: [String] = [], errors: [String] = []) {
        (self.changed, self.needRestart, self.errors) = (changed, needRestart, errors)
    }

    package var json: JSON { .document(self) }
}
