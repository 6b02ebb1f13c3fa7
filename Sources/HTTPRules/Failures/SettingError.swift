// SPDX-License-Identifier: Apache-2.0
import CacheFormat

package struct SettingError: Error, Equatable, CustomStringConvertible {
    package var name: String
    package var value: String
    package var form: String

    /// A long value is shortened; `form` is the expected form.
    package init(name: String, value: String, form: String) {
        self.name = name
        self.value = value.utf8.count > 200 ? value.prefix(bytes: 100) + "…" : value
        self.form = form
    }

    package var description: String { "“\(value)” is not a value for \(name): it takes \(form)." }
}
