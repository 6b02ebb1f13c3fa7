// SPDX-License-Identifier: Apache-2.0
package import SyncPlan

extension EffectiveSettings {
    /// Each setting with its origin, for ``SettingsReport``.
    ///
    /// - Parameter running: The settings in force, where some that are configured take a restart.
    /// - Returns: One for each setting.
    package func rows(running: Settings? = nil) -> [SettingsReport.Setting] {
        SettingKey.all.map { key in
            let origin = origin(of: key)
            return SettingsReport.Setting(
                key: key.name, variable: key.variable, value: key.shownValue(in: running ?? settings),
                default: key.shownValue(in: Settings()), source: origin.word,
                place: origin == .preset ? nil : "\(origin)",
                needsRestart: running.map { key.differs($0, settings) } ?? false)
        }
    }
}

extension Settings {
    /// The settings that an agent reports, as far as it reports them: passwords are left out.
    package init(_ report: SettingsReport) {
        self.init()
        for setting in report.settings where setting.source != "default" {
            // An agent of another version may have other settings.
            try? SettingKey.named(setting.key)?.set(setting.value, in: &self)
        }
    }
}
