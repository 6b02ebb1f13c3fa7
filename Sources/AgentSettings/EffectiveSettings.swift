// SPDX-License-Identifier: Apache-2.0
import HTTPRules

/// The settings in force, and the origin of each.
///
/// The file counts first, the environment overrides it, and options override both.
package struct EffectiveSettings: Sendable {
    package enum Origin: Equatable, Sendable {
        case preset
        case file(String, line: Int)
        case variable(String)
        case option(String)
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
            set(entry.key, from: origin) { settings throws(SettingError) in try entry.apply(to: &settings) }
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

extension EffectiveSettings.Origin: CustomStringConvertible {
    package var word: String {
        switch self {
        case .preset: "default"
        case .file: "file"
        case .variable: "environment"
        case .option: "option"
        }
    }

    package var description: String {
        switch self {
        case .preset: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .variable(let name): name
        case .option(let option): option
        }
    }
}
