// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
package import HTTPRules

/// A setting with its name, form, default and meaning.
///
/// ``all`` is the single table of settings. The configuration file, the environment, `--set`, `syncagent config`, the
/// manual page and the article Settings are derived from it.
package struct SettingKey: Sendable {
    /// The TOML type of the value.
    package enum Kind: Sendable {
        /// A string; durations and sizes have units.
        case text
        case number
        case flag
        /// An array of strings; in variables and options, a text with commas.
        case list
    }

    package enum Effect: String, Sendable {
        case reload
        case restart
    }

    /// The full name: `fetch.maxBytes`.
    package let name: String
    package let kind: Kind
    /// The accepted form, for errors: `a whole number from 1 to 1000`; for a list, the form of its elements.
    package let form: String
    /// The form in a few words, for tables: `number, 1 to 1000`.
    package let label: String
    /// The word that tables show if there is no value: `none`.
    let absence: String
    package let effect: Effect
    /// The meaning, in Markdown.
    package let summary: String
    /// Sets the value from its elements (one, except for lists); returns the first invalid element.
    let read: @Sendable ([String], inout Settings) -> String?
    let show: @Sendable (Settings) -> [String]
    /// Removes passwords from a value.
    var redact: @Sendable (String) -> String = { $0 }

    /// The table's name: `fetch`.
    package var table: String { String(name.prefix { $0 != "." }) }

    /// The key in its table: `maxBytes`.
    package var key: String { String(name.dropFirst(table.count + 1)) }

    /// The environment variable: `SYNCAGENT_FETCH_MAX_BYTES`.
    package var variable: String {
        var variable = "SYNCAGENT_"
        var isInWord = false
        for character in name {
            // Consecutive capitals are one word: `images.allowSVG` is `SYNCAGENT_IMAGES_ALLOW_SVG`.
            if character.isUppercase, isInWord { variable += "_" }
            variable += character == "." ? "_" : character.uppercased()
            isInWord = character.isLowercase
        }
        return variable
    }

    // MARK: Values

    /// Sets the value from the text of a variable or option.
    package func set(_ text: String, in settings: inout Settings) throws(SettingError) {
        let parts = kind == .list ? text.split(separator: ",").map { String($0.drop { $0 == " " }) } : [text]
        guard let flaw = read(parts, &settings) else { return }
        throw SettingError(self, value: flaw.isEmpty ? text : flaw, isSeparated: kind == .list)
    }

    /// Sets the value from its elements: one, except for lists.
    package func set(elements: [String], in settings: inout Settings) throws(SettingError) {
        if let flaw = read(elements, &settings) { throw SettingError(self, value: flaw) }
    }

    /// The value as text for a variable; empty if there is none.
    package func value(in settings: Settings) -> String { show(settings).joined(separator: ",") }

    /// The value as text, without passwords.
    package func shownValue(in settings: Settings) -> String { redact(value(in: settings)) }

    /// The value as TOML.
    package func literal(in settings: Settings) -> String {
        let parts = show(settings)
        return switch kind {
        case .text: Self.quoted(parts.first ?? "")
        case .number, .flag: parts[0]
        case .list: "[" + parts.map(Self.quoted).joined(separator: ", ") + "]"
        }
    }

    /// A text as a basic string (TOML 1.0, “String”), which is a JSON string without DEL.
    private static func quoted(_ text: String) -> String {
        JSON.quoted(text).replacing(bytes: "\u{7F}", with: "\\u007f")
    }

    package func differs(_ a: Settings, _ b: Settings) -> Bool { show(a) != show(b) }

    package func copy(from source: Settings, to settings: inout Settings) {
        let parts = show(source)
        // For a setting that may be missing, an empty text means no value.
        let flaw = read(kind == .list ? parts : [parts.first ?? ""], &settings)
        precondition(flaw == nil, "\(name) does not read what it shows")
    }
}

extension SettingError {
    fileprivate init(_ key: SettingKey, value: String, isSeparated: Bool = false) {
        var shown = key.redact(value)
        // Also where a URL with a password is refused: errors are logged.
        if shown == value, value.contains(bytes: "@"), value.contains(bytes: "://") { shown = "\(LogURL(value))" }
        self.init(name: key.name, value: shown, form: key.form + (isSeparated ? ", separated by commas" : ""))
    }
}
