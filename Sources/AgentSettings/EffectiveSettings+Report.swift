// SPDX-License-Identifier: Apache-2.0

extension EffectiveSettings {
    /// Each setting with its origin; `running` are the settings in force, if configured values need a restart.
    package func rows(running: Settings? = nil) -> [SettingsReport.Setting] {
        SettingKey.all.map { key in
            let (origin, shown) = (origin(of: key), key.shownValue(in: running ?? settings))
            return SettingsReport.Setting(
                key: key.name, variable: key.variable, value: shown, default: key.shownValue(in: Settings()),
                source: origin.word, place: origin == .preset ? nil : "\(origin)",
                needsRestart: running.map { key.differs($0, settings) } ?? false,
                redacted: shown == key.value(in: running ?? settings) ? nil : true)
        }
    }
}

extension Settings {
    /// Restores the settings that an agent reports, which leaves passwords out.
    ///
    /// A redacted setting gets the value in `configured` (the agent's file, as far as readable) if that equals the
    /// reported one but for the password; otherwise its name is added to `unknown`.
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
