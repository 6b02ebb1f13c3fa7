// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A setting whose value is not of its form.
package struct SettingError: Error, Equatable, CustomStringConvertible {
    package var name: String
    package var value: String
    package var form: String

    /// - Parameters:
    ///   - name: The setting, or the variable.
    ///   - value: What was given for it; of a long text, the beginning is kept.
    ///   - form: What it takes.
    package init(name: String, value: String, form: String) {
        self.name = name
        self.value = value.utf8.count > 200 ? value.prefix(bytes: 100) + "…" : value
        self.form = form
    }

    package var description: String { "“\(value)” is not a value for \(name): it takes \(form)." }
}
