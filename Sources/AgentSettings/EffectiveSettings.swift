// SPDX-License-Identifier: Apache-2.0
import HTTPRules

/// The settings in force, and the origin of each.
///
/// The file counts first, the environment overrides it, and options override both.
package struct EffectiveSettings: Sendable {
    package struct Origin: Equatable, CustomStringConvertible, Sendable {
        /// The kind of source, in a word.
        package let word: String
        /// The file and line, the variable or the option.
        package let description: String

        package static let preset = Origin(word: "default", description: "default")
        package static func file(_ path: String, line: Int) -> Origin {
            Origin(word: "file", description: "\(path):\(line)")
        }
        package static func variable(_ name: String) -> Origin { Origin(word: "environment", description: name) }
        package static func option(_ name: String) -> Origin { Origin(word: "option", description: name) }
    }

    package private(set) var settings = Settings()
    private var origins: [String: Origin] = [:]
    /// Problems of single settings.
    private var flaws: [ConfigurationProblem] = []
    /// All problems, including contradictions between settings.
    package var problems: [ConfigurationProblem] { flaws + contradictions() }
    /// The problems that remain even if the agent's environment sets the settings that have defaults here.
    package var certainProblems: [ConfigurationProblem] { flaws + contradictions(ofDefaults: false) }

    package init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    package func origin(of key: SettingKey) -> Origin { origins[key.name] ?? .preset }

    package mutating func apply(_ file: ConfigurationFile) {
        flaws += file.problems
        settings.keys = CacheKeys(file.keys)
        for entry in file.entries {
            let origin = Origin.file(file.path, line: entry.line)
            set(entry.key, from: origin) { settings throws(SettingError) in
                try entry.key.set(elements: entry.elements, in: &settings)
            }
        }
    }

    package mutating func apply(_ file: CredentialsFile) {
        flaws += file.problems
        settings.credentials = file.credentials
    }

    /// Applies environment variables; an empty variable counts as unset.
    package mutating func apply(environment: (String) -> String?) {
        for key in SettingKey.all {
            guard let text = environment(key.variable), !text.isEmpty else { continue }
            set(key, from: .variable(key.variable)) { settings throws(SettingError) in
                try key.set(text, in: &settings)
            }
        }
    }

    /// Applies the assignment of `--set`: `fetch.maxBytes=1MiB`.
    package mutating func apply(assignment: String) {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            flaws.append(
                ConfigurationProblem("--set", "“\(assignment)” is not an assignment: write --set KEY=VALUE."))
            return
        }
        guard let key = SettingKey.named(parts[0]) else {
            let advice = SettingKey.nearest(to: parts[0]).map { ": did you mean \($0.name)?" } ?? "."
            flaws.append(ConfigurationProblem("--set", "There is no setting \(parts[0])\(advice)"))
            return
        }
        set(key, from: .option("--set")) { settings throws(SettingError) in try key.set(parts[1], in: &settings) }
    }

    /// Applies an option of a command, or the variable of another program, such as `SSL_CERT_FILE`, to a setting.
    package mutating func apply(_ origin: Origin, to name: String, _ change: (inout Settings) -> Void) {
        change(&settings)
        origins[name] = origin
    }

    private mutating func set(
        _ key: SettingKey, from origin: Origin, _ change: (inout Settings) throws(SettingError) -> Void
    ) {
        do throws(SettingError) {
            try change(&settings)
            origins[key.name] = origin
        } catch {
            flaws.append(ConfigurationProblem("\(origin)", "\(error)"))
        }
    }
}
