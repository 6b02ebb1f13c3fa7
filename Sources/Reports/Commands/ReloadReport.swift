// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The result of reading the configuration again: the output of `syncagent reload`.
package struct ReloadReport: Codable, Equatable, Sendable {
    /// The settings whose new values are now in force.
    package var changed: [String]
    /// The settings whose new values need a restart.
    package var needRestart: [String]
    /// The problems of the configuration; if there are any, the old settings stay in force.
    package var errors: [String]

    package init(changed: [String] = [], needRestart: [String] = [], errors: [String] = []) {
        (self.changed, self.needRestart, self.errors) = (changed, needRestart, errors)
    }

    package var json: JSON { .document(self) }
}
