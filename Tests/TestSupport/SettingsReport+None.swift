// SPDX-License-Identifier: Apache-2.0
package import AgentSettings

extension SettingsReport {
    /// A report of no settings, for tests of something else.
    package static let none = SettingsReport(
        file: "/none", folders: Folders(lists: "/none", cache: "/none", state: "/none", socket: "/none"), settings: [])
}
