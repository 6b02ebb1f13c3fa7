// SPDX-License-Identifier: Apache-2.0
package import HTTPRules

/// A setting as people write it: its name, its form, its default and its meaning.
///
/// ``all`` is the one table of settings. The configuration file, the environment, `--set`, the output of `syncagent config`,
/// the manual page and the article Settings follow from it.
package struct SettingKey: Sendable {
    /// The type that its value has in TOML.
    package enum Kind: Sendable {
        /// A string; durations and sizes have units.
        case text
        case number
        case flag
        /// An array of strings; with commas between them elsewhere.
        case list
    }

    /// When a changed value takes effect.
    package enum Effect: String, Sendable {
        /// When the configuration is reloaded.
        case reload
        /// When the agent is restarted.
        case restart
    }

    /// The name in the configuration: `fetch.maxBytes`.
    package let name: String
    package let kind: Kind
    /// What it takes, in an error: `a whole number from 1 to 1000`; of a list, what its elements are.
    package let form: String
    /// The same in a word or two, for tables: `number, 1 to 1000`.
    package let label: String
    /// What holds where it has no value: `none`.
    let absence: String
    package let effect: Effect
    /// What it means, in Markdown.
    package let summary: String
    /// Sets it from its parts, of which only a list has another number than one.
    ///
    /// Returns the part that is wrong.
    let read: @Sendable ([String], inout Settings) -> String?
    let show: @Sendable (Settings) -> [String]
    /// The value as anybody may see it.
    var redact: @Sendable (String) -> String = { $0 }

    /// The table that it is in: `fetch`.
    package var table: String { String(name.prefix { $0 != "." }) }

    /// Its key in that table: `maxBytes`.
    package var key: String { String(name.dropFirst(table.count + 1)) }

    /// The environment variable that sets it: `SYNCAGENT_FETCH_MAX_BYTES`.
    package var variable: String {
        var variable = "SYNCAGENT_"
        var isInWord = false
        for character in name {
            // Several capitals together are one word: `images.allowSVG` is `SYNCAGENT_IMAGES_ALLOW_SVG`.
            if character.isUppercase, isInWord { variable += "_" }
            variable += character == "." ? "_" : character.uppercased()
            isInWord = character.isLowercase
        }
        return variable
    }

    // MARK: Values

    /// Sets it from text, as variables and options have it.
    ///
    /// - Throws: ``SettingError`` if the text is not of the setting's form, or out of its range.
    package func set(_ text: String, in settings: inout Settings) throws(SettingError) {
        let parts = kind == .list ? text.split(separator: ",").map { String($0.drop { $0 == " " }) } : [text]
        guard let flaw = read(parts, &settings) else { return }
        throw SettingError(self, value: redact(flaw.isEmpty ? text : flaw), isSeparated: kind == .list)
    }

    /// Sets a list from its elements.
    ///
    /// - Throws: ``SettingError`` if one of them is not of the setting's form.
    package func set(elements: [String], in settings: inout Settings) throws(SettingError) {
        precondition(kind == .list, "only lists have elements")
        if let flaw = read(elements, &settings) { throw SettingError(self, value: redact(flaw)) }
    }

    /// The value as it would be written in a variable; empty if there is none.
    package func value(in settings: Settings) -> String { show(settings).joined(separator: ",") }

    /// The same without passwords.
    package func shownValue(in settings: Settings) -> String { redact(value(in: settings)) }

    /// The value as it would be written in the configuration file.
    package func literal(in settings: Settings) -> String {
        let parts = show(settings)
        return switch kind {
        case .text: TOMLText.quoted(parts.first ?? "")
        case .number, .flag: parts[0]
        case .list: "[" + parts.map(TOMLText.quoted).joined(separator: ", ") + "]"
        }
    }

    /// Whether the values in two settings differ.
    package func differs(_ a: Settings, _ b: Settings) -> Bool { show(a) != show(b) }

    /// Gives it the value that it has in other settings.
    package func copy(from source: Settings, to settings: inout Settings) {
        let parts = show(source)
        // What has no value is written as nothing.
        let flaw = read(kind == .list ? parts : [parts.first ?? ""], &settings)
        precondition(flaw == nil, "\(name) does not read what it shows")
    }
}

extension SettingError {
    /// - Parameters:
    ///   - key: The setting.
    ///   - value: What was given for it, without passwords.
    ///   - isSeparated: Whether it is a list that is written with commas.
    fileprivate init(_ key: SettingKey, value: String, isSeparated: Bool = false) {
        self.init(name: key.name, value: value, form: key.form + (isSeparated ? ", with commas between" : ""))
    }
}
