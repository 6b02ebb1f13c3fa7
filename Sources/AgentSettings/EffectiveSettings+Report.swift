// SPDX-License-Identifier: Apache-2.0

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
                needsRestart: running.map { key.differs($0, settings) } ?? false,
                isRedacted: key.shownValue(in: running ?? settings) != key.value(in: running ?? settings))
        }
    }
}

extension Settings {
    /// The settings that an agent reports.
    ///
    /// It leaves passwords out: a setting with one has the value that is configured, if that is the same but for the password.
    ///
    /// - Parameters:
    ///   - report: What the agent reports.
    ///   - configured: The settings of its configuration file, as far as they can be read.
    ///   - unknown: The settings that have a password which is not configured there.
    package init(_ report: SettingsReport, configured: Settings, unknown: inout [String]) {
        self.init()
        for setting in report.settings {
            // An agent of another version may have other settings.
            guard let key = SettingKey.named(setting.key) else { continue }
            if setting.redacted != true {
                if setting.source != "default" { try? key.set(setting.value, in: &self) }
            } else if key.shownValue(in: configured) == setting.value {
                key.copy(from: configured, to: &self)
            } else {
                unknown.append(setting.key)
            }
        }
    }
}
