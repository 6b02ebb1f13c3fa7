// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// What suggested commands need to know of whoever asks, beside what a ``StatusReport`` tells.
///
/// By default nothing is known, as when the agent itself tells its status.
package struct CommandContext: Equatable, Sendable {
    /// The options that reach the same agent, quoted for a shell, such as `--socket /run/a.sock`.
    package var options: [String]
    /// The command that starts the agent.
    package var start: String?
    /// Whether it is the system's agent, which systemd reloads.
    package var isSystem: Bool
    /// The lists folder.
    package var lists: String?
    /// The cache folder.
    package var cache: String?
    /// The configuration file.
    package var file: String?
    /// Whether the control socket is closed to whoever asks; else an agent that is not reached does not answer.
    package var isClosed = true

    package init(
        options: [String] = [], start: String? = nil, isSystem: Bool = true, lists: String? = nil,
        cache: String? = nil, file: String? = nil
    ) {
        (self.options, self.start, self.isSystem) = (options, start, isSystem)
        (self.lists, self.cache, self.file) = (lists, cache, file)
    }

    /// A command with the options; one that is not of syncagent, or that names its file, stays as it is.
    package func command(_ text: String) -> String {
        guard !options.isEmpty, text.starts(withBytes: "syncagent ") || text.starts(withBytes: "sudo syncagent "),
            !text.starts(withBytes: "syncagent config check ")
        else { return text }
        let options = options.joined(separator: " ")
        // What follows `--` is no option. One within quotes is a part of a name.
        let parts = text.replacing(bytes: " -- ", with: "\0").split(atByte: "\0", maxSplits: 1)
        guard parts.count == 2, !parts[0].contains(bytes: "'") else { return "\(text) \(options)" }
        return "\(parts[0]) \(options) -- \(parts[1].replacing(bytes: "\0", with: " -- "))"
    }

    /// A problem with these commands, in whose cause settings are told with their file.
    func completed(_ problem: StatusProblem) -> StatusProblem {
        var problem = problem
        problem.commands = problem.commands.map(command)
        problem.detail = problem.detail.map(explained)
        return problem
    }

    /// A message, in which settings are told with their file.
    package func explained(_ message: String) -> String {
        guard let file, message.contains(bytes: " to network.allow") else { return message }
        return message.replacing(bytes: " to network.allowHosts", with: " to allowHosts")
            .replacing(bytes: " to network.allow", with: " to allow") + ", in [network] of \(file), and reload"
    }
}
