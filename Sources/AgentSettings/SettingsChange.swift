// SPDX-License-Identifier: Apache-2.0

/// The effect of a reload.
package struct SettingsChange: Equatable, Sendable {
    /// The settings after the reload; settings that need a restart keep their values.
    package let settings: Settings
    /// The settings whose new values take effect now.
    package let changed: [String]
    /// The settings whose new values need a restart.
    package let needRestart: [String]

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
        if running.fetch.caFile == new.fetch.caFile, running.fetch.caDigest != new.fetch.caDigest {
            changed.append("fetch.caFile")
        }
        if running.keys != new.keys { changed.append("keys") }
        if running.credentials != new.credentials { changed.append("credentials") }
        (self.settings, self.changed, self.needRestart) = (settings, changed, needRestart)
    }
}
