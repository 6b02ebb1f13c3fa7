// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat

/// Messages about wrong command lines, where ArgumentParser's are unclear.
enum CommandLineText {
    /// A message that a command does not exist, with a suggestion; `nil` if it exists, or the arguments name none.
    static func flaw(in arguments: [String]) -> String? {
        // Leave requests of completion scripts to ArgumentParser.
        guard arguments.first != "---completion" else { return nil }
        let isHelp = arguments.first == "help"
        if let flaw = misplacedOptions(in: arguments) { return flaw }
        let words = isHelp ? arguments.dropFirst().filter { !$0.starts(withBytes: "-") } : arguments
        if !isHelp, words.count > 1, words[0] == "config", ConfigCommand.Show.takes(words[1]) { return nil }
        return flaw(in: words[...], of: SyncAgentCommand.self, path: [])
    }

    /// A message for options that precede their command; `nil` if there are none.
    private static func misplacedOptions(in arguments: [String]) -> String? {
        let options = arguments.prefix { $0.starts(withBytes: "-") }
        let names = SyncAgentCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        let own = ["-h", "--help", "--version", "--help-hidden"]
        guard let first = options.first, !own.contains(first), let command = arguments.dropFirst(options.count).first,
            names.contains(command)
        else { return nil }
        let example = (["syncagent", command] + options).joined(separator: " ")
        return
            "Error: Options follow the command: \(printable(example))\nSee 'syncagent help \(command)' for its options."
    }

    /// Removes ArgumentParser's suggestion from a message if it is unlike what was typed.
    static func withoutFarSuggestion(_ message: String) -> String {
        guard let match = message.firstMatch(of: /'([^']+)'\. Did you mean '([^']+)'\?/) else { return message }
        let (typed, meant) = (String(match.output.1), String(match.output.2))
        guard Suggestion.name(for: typed, among: [meant]) == nil else { return message }
        return message.replacing(" Did you mean '\(meant)'?", with: "")
    }

    private static func flaw(
        in words: ArraySlice<String>, of type: any ParsableCommand.Type, path: [String]
    ) -> String? {
        let commands = type.configuration.subcommands
        guard let word = words.first, !word.starts(withBytes: "-"), !commands.isEmpty, path != [] || word != "help"
        else {
            return nil
        }
        if let command = commands.first(where: { $0.configuration.commandName == word }) {
            return flaw(in: words.dropFirst(), of: command, path: path + [word])
        }
        let names = commands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
        let nearest = Suggestion.name(for: word, among: names + (path.isEmpty ? ["help"] : []))
        return """
            Error: There is no command “\(printable((path + [word.prefix(bytes: 100)]).joined(separator: " ")))”.\
            \(nearest.map { " Did you mean \($0)?" } ?? "")
            See '\((["syncagent", "help"] + path).joined(separator: " "))' for all commands.
            """
    }

    /// Escapes the arguments quoted in a message, so that each stays on one line.
    static func escaped(_ message: String, _ arguments: [String]) -> String {
        var message = message
        for argument in arguments {
            let parts = [argument] + argument.split(separator: "=", maxSplits: 1).map(String.init)
            for part in parts where printable(part) != part { message = message.replacing(part, with: printable(part)) }
        }
        return message
    }
}
