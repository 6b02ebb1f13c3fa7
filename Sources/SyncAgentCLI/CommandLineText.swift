// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat

/// What is wrong with a command line, where the parser of arguments does not say it well.
enum CommandLineText {
    /// Says that a command does not exist, and which one may be meant.
    ///
    /// - Parameter arguments: The arguments without the program's name.
    /// - Returns: `nil` if the command exists, or none is named.
    static func flaw(in arguments: [String]) -> String? {
        let names = SyncAgentCommand.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        let isHelp = arguments.first == "help"
        let word = isHelp ? arguments.dropFirst().first { !$0.hasPrefix("-") } : arguments.first
        guard let word, !word.hasPrefix("-"), !names.contains(word) else { return nil }
        let advice = Suggestion.name(for: word, among: names).map { " Did you mean \($0)?" } ?? ""
        return """
            Error: There is no command “\(printable(String(word.prefix(100))))”.\(advice)
            See 'syncagent help' for all commands.
            """
    }

    /// A message about the command line whose arguments keep to one line each.
    static func escaped(_ message: String, _ arguments: [String]) -> String {
        var message = message
        for argument in arguments {
            let parts = [argument] + argument.split(separator: "=", maxSplits: 1).map(String.init)
            for part in parts where printable(part) != part { message = message.replacing(part, with: printable(part)) }
        }
        return message
    }
}
