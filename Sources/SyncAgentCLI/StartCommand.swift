// SPDX-License-Identifier: Apache-2.0

enum StartCommand {
    /// Chooses the command that starts the agent.
    ///
    /// - Parameters:
    ///   - isSystem: Whether the agent is the system's, not the user's.
    ///   - isRoot: Whether the user is root: `run` then exits with 78 without `--allow-root`.
    ///   - options: The options that lead to the agent, such as `--socket`.
    ///   - hasUnit: Whether systemd has a unit for the system's agent, or for the user's.
    /// - Returns: The command; that of a unit only without options, which the unit would ignore.
    static func text(isSystem: Bool, isRoot: Bool, options: [String], hasUnit: (_ isSystem: Bool) -> Bool) -> String {
        // A container has no systemd unit.
        if isSystem, hasUnit(true) { return "systemctl start syncagent" }
        guard !isRoot else { return "syncagent run --allow-root" }
        let isOwn = !isSystem && options.allSatisfy { $0 == "--user" }
        return isOwn && hasUnit(false) ? "systemctl --user start syncagent" : "syncagent run"
    }
}
