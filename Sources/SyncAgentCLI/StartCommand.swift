// SPDX-License-Identifier: Apache-2.0

struct StartCommand {
    var isSystem: Bool
    /// Whether the user is root: `run` then exits with 78 without `--allow-root`.
    var isRoot: Bool
    var options: [String]
    /// Whether systemd has a unit for the system's agent, or for the user's.
    var hasUnit: (_ isSystem: Bool) -> Bool

    /// The command; a systemd unit is suggested only if no options are given, which it would ignore.
    var text: String {
        // A container has none.
        if isSystem, hasUnit(true) { return "systemctl start syncagent" }
        guard !isRoot else { return "syncagent run --allow-root" }
        let isOwn = !isSystem && options.allSatisfy { $0 == "--user" }
        return isOwn && hasUnit(false) ? "systemctl --user start syncagent" : "syncagent run"
    }
}
