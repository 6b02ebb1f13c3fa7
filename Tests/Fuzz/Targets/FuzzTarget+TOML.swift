// SPDX-License-Identifier: Apache-2.0
import AgentSettings

extension FuzzTarget {
    /// Configuration files: each problem has a line of the file, and settings that are written read as what they were.
    static let toml = FuzzTarget(name: "toml", isText: true) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let file = ConfigurationFile(path: "f", text: text)
        let lines = text.utf8.count { $0 == 0x0A } + 1
        // The last one may count those that are not reported.
        for problem in file.problems where problem.place != "f" || file.problems.count <= 50 {
            let line = problem.place.hasPrefix("f:") ? Int(problem.place.dropFirst(2)) : nil
            try hold(line.map { (1...lines).contains($0) } ?? false, "“\(problem)” is not in the file")
            try hold(!problem.message.isEmpty, "there is a problem without a message")
        }
        var effective = EffectiveSettings()
        effective.apply(file)
        let problems = file.problems + effective.contradictions()
        try hold(effective.problems == problems, "what was read is not taken: \(effective.problems)")
        let again = ConfigurationFile(path: "f", text: written(effective.settings))
        try hold(again.problems.isEmpty, "what is written is wrong: \(again.problems)")
        var same = EffectiveSettings()
        same.apply(again)
        try hold(same.settings == effective.settings, "\(effective.settings) are others when read again")
    }

    /// A file with all settings that have a value.
    private static func written(_ settings: Settings) -> String {
        let keys = SettingKey.all.filter { $0.kind == .list || !$0.value(in: settings).isEmpty }
        return Dictionary(grouping: keys, by: \.table).map { table, keys in
            (["[\(table)]"] + keys.map { "\($0.key) = \($0.literal(in: settings))" }).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
