// SPDX-License-Identifier: Apache-2.0

/// A constraint between two settings, each valid by itself.
struct SettingRule: Sendable {
    let first: String
    let second: String
    /// The verb phrase that joins the two settings in the message, such as “is less than”.
    let words: String
    let advice: String
    let isBroken: @Sendable (Settings) -> Bool

    static let all: [SettingRule] = [
        notLonger("lists.settle", \.lists.settle, "lists.settleMax", \.lists.settleMax),
        notLonger("fetch.retryBase", \.fetch.retryBase, "fetch.retryMax", \.fetch.retryMax),
        apart("dashboard.listen", \.dashboard.listen, "serve.listen", \.serve.listen),
        apart("dashboard.listen", \.dashboard.listen, "metrics.listen", \.metrics.listen),
        apart("serve.listen", \.serve.listen, "metrics.listen", \.metrics.listen),
    ]

    private static func notLonger(
        _ first: String, _ duration: any KeyPath<Settings, Duration> & Sendable,
        _ second: String, _ limit: any KeyPath<Settings, Duration> & Sendable
    ) -> SettingRule {
        SettingRule(
            first: first, second: second, words: "is longer than", advice: "lower the one, or raise the other",
            isBroken: { $0[keyPath: duration] > $0[keyPath: limit] })
    }

    private static func apart(
        _ first: String, _ address: any KeyPath<Settings, ListenAddress?> & Sendable,
        _ second: String, _ other: any KeyPath<Settings, ListenAddress?> & Sendable
    ) -> SettingRule {
        SettingRule(
            first: first, second: second, words: "has the same port as", advice: "use another port",
            isBroken: { settings in
                guard let one = settings[keyPath: address], let two = settings[keyPath: other] else { return false }
                return one.overlaps(two)
            })
    }
}

extension EffectiveSettings {
    /// A problem for each violated rule.
    ///
    /// At least one of its two settings must have been set by the user; both, if not `ofDefaults`.
    package func contradictions(ofDefaults: Bool = true) -> [ConfigurationProblem] {
        SettingRule.all.compactMap { rule in
            guard rule.isBroken(settings), let first = SettingKey.named(rule.first),
                let second = SettingKey.named(rule.second),
                let place = [first, second].map(origin).first(where: { $0 != .preset }),
                ofDefaults || ![first, second].map(origin).contains(.preset)
            else { return nil }
            func told(_ key: SettingKey) -> String {
                let origin = origin(of: key)
                let value = "\(key.name) (\(key.shownValue(in: settings))"
                return value + (origin == place ? ")" : origin == .preset ? ", the default)" : ", \(origin))")
            }
            return ConfigurationProblem(
                "\(place)", "\(told(first)) \(rule.words) \(told(second)): \(rule.advice).")
        }
    }
}
