// SPDX-License-Identifier: Apache-2.0

/// The command that starts the agent, for whoever asks.
struct StartCommand {
    /// Whether the folders are those of the system's agent.
    var isSystem: Bool
    /// Whether root asks: as root, `run` ends with exit code 78, unless it is allowed.
    var isRoot: Bool
    /// The options that reach the agent.
    var options: [String]
    /// Whether systemd has a unit of the system, or of the user.
    var hasUnit: (_ isSystem: Bool) -> Bool

    /// A unit knows nothing of the options that were given.
    var text: String {
        if isSystem { return "systemctl start syncagent" }
        guard isRoot else {
            let isOwn = options.allSatisfy { $0 == "--user" }
            return isOwn && hasUnit(false) ? "systemctl --user start syncagent" : "syncagent run"
        }
        return options.isEmpty && hasUnit(true) ? "systemctl start syncagent" : "syncagent run --allow-root"
    }
}
