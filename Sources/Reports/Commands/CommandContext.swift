// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

/// The caller's options, paths and rights, on which suggested commands depend besides the ``StatusReport``.
///
/// The default knows nothing of a caller, as when the agent itself reports its status.
package struct CommandContext: Equatable, Sendable {
    /// The options with which a command reaches the same agent, quoted for a shell, such as `--socket /run/a.sock`.
    package var options: [String]
    package var start: String?
    /// Whether it is the system's agent, which systemd reloads.
    package var isSystem: Bool
    package var lists: String?
    package var cache: String?
    package var file: String?
    /// Whether the caller may not use the control socket; if `false`, an agent that is not reached is one that does not
    /// answer.
    package var isClosed = true

    package init(
        options: [String] = [], start: String? = nil, isSystem: Bool = true, lists: String? = nil,
        cache: String? = nil, file: String? = nil
    ) {
        (self.options, self.start, self.isSystem) = (options, start, isSystem)
        (self.lists, self.cache, self.file) = (lists, cache, file)
    }

    /// Adds the options to a syncagent command, unless the command already names its file.
    package func command(_ text: String) -> String {
        guard !options.isEmpty, text.starts(withBytes: "syncagent ") || text.starts(withBytes: "sudo syncagent "),
            !text.starts(withBytes: "syncagent config check ")
        else { return text }
        let options = options.joined(separator: " ")
        // Nothing after `--` is an option. A `--` within quotes is part of a name.
        let parts = text.replacing(bytes: " -- ", with: "\0").split(atByte: "\0", maxSplits: 1)
        guard parts.count == 2, !parts[0].contains(bytes: "'") else { return "\(text) \(options)" }
        return "\(parts[0]) \(options) -- \(parts[1].replacing(bytes: "\0", with: " -- "))"
    }

    /// A problem whose commands have the options, and whose cause names the settings file.
    func completed(_ problem: StatusProblem) -> StatusProblem {
        var problem = problem
        problem.commands = problem.commands.map(command)
        problem.detail = problem.detail.map(explained)
        return problem
    }

    /// A message whose advice on an address, if it has any, names the configuration file.
    package func explained(_ message: String) -> String {
        guard let file, let (cause, advice, rest) = AddressAdvice.find(in: message) else { return message }
        return cause + advice.clause(for: file) + rest
    }
}
