// SPDX-License-Identifier: Apache-2.0

struct StartCommand {
    var isSystem: Bool
    /// Whether the user is root: `run` then exits with 78 without `--allow-root`.
    var isRoot: Bool
    var options: [String]
    /// Whether systemd has a unit for the system's agent, or for the user's.
    var hasUnit: (_ isSystem: Bool) -> Bool

    /// The command that starts the agent; a systemd unit would ignore options, so it is suggested only without any.
    var text: String {
        // A container has no systemd unit.
        if isSystem, hasUnit(true) { return "systemctl start syncagent" }
        guard !isRoot else { return "syncagent run --allow-root" }
        let isOwn = !isSystem && options.allSatisfy { $0 == "--user" }
        return isOwn && hasUnit(false) ? "systemctl --user start syncagent" : "syncagent run"
    }
}
