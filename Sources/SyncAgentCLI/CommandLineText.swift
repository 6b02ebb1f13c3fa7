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
        let isHelp = arguments.first == "help"
        let words = isHelp ? arguments.dropFirst().filter { !$0.hasPrefix("-") } : arguments
        return flaw(in: words[...], of: SyncAgentCommand.self, path: [])
    }

    private static func flaw(
        in words: ArraySlice<String>, of type: any ParsableCommand.Type, path: [String]
    ) -> String? {
        let commands = type.configuration.subcommands
        // Without subcommands, words are arguments.
        guard let word = words.first, !word.hasPrefix("-"), !commands.isEmpty, path != [] || word != "help" else {
            return nil
        }
        if let command = commands.first(where: { $0.configuration.commandName == word }) {
            return flaw(in: words.dropFirst(), of: command, path: path + [word])
        }
        let names = commands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
        let nearest = Suggestion.name(for: word, among: names + (path.isEmpty ? ["help"] : []))
        return """
            Error: There is no command “\(printable((path + [String(word.prefix(100))]).joined(separator: " ")))”.\
            \(nearest.map { " Did you mean \($0)?" } ?? "")
            See '\((["syncagent", "help"] + path).joined(separator: " "))' for all commands.
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
