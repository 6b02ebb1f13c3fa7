// SPDX-License-Identifier: Apache-2.0

enum StartCommand {
    /// The command that starts the agent; a systemd unit would ignore options, so it is suggested only without any.
    ///
    /// `isRoot` is for the user, as whom `run` exits with 78 without `--allow-root`; `hasUnit` is asked for the system's
    /// agent or for the user's.
    static func text(isSystem: Bool, isRoot: Bool, options: [String], hasUnit: (_ isSystem: Bool) -> Bool) -> String {
        // A container has no systemd unit.
        if isSystem, hasUnit(true) { return "systemctl start syncagent" }
        guard !isRoot else { return "syncagent run --allow-root" }
        let isOwn = !isSystem && options.allSatisfy { $0 == "--user" }
        return isOwn && hasUnit(false) ? "systemctl --user start syncagent" : "syncagent run"
    }
}
