// SPDX-License-Identifier: Apache-2.0

/// What a reload changes.
package struct SettingsChange: Equatable, Sendable {
    /// The settings from then on: those that take a restart are as they were.
    package let settings: Settings
    /// The settings that change now.
    package let changed: [String]
    /// The settings that would change, and take a restart.
    package let needRestart: [String]

    /// - Parameters:
    ///   - running: The settings in force.
    ///   - new: What is configured now.
    package init(from running: Settings, to new: Settings) {
        var settings = new
        var (changed, needRestart): ([String], [String]) = ([], [])
        for key in SettingKey.all where key.differs(running, new) {
            switch key.effect {
            case .reload: changed.append(key.name)
            case .restart:
                needRestart.append(key.name)
                key.copy(from: running, to: &settings)
            }
        }
        (self.settings, self.changed, self.needRestart) = (settings, changed, needRestart)
    }
}
