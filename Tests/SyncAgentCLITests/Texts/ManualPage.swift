// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import FoundationEssentials
import SystemPackage
import TestSupport

/// A manual page in the language of mdoc(7), as far as tests look into it.
struct ManualPage {
    /// The name of its file: `syncagent.1`.
    let name: String
    let lines: [String]

    /// All pages: those that are written by hand, and the one whose settings the program prints.
    static let names = ["syncagent.1", "syncagent-cache.5", "syncagent-lists.5", "syncagent.toml.5", "syncagent.8"]

    init(_ name: String) throws {
        let file = name == "syncagent.toml.5" ? name + ".in" : name
        let path = Article.project.appending("Packaging").appending("man").appending(file)
        let text = try String(contentsOfFile: path.string, encoding: .utf8)
            .replacing("@SETTINGS@\n", with: SettingKey.manualTables)
        self.init(name: name, lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    private init(name: String, lines: [String]) { (self.name, self.lines) = (name, lines) }

    var text: String { lines.joined(separator: "\n") }

    /// The lines of a section, without its heading.
    func section(_ title: String) -> ManualPage {
        let rest = lines.drop { $0 != ".Sh \(title)" }.dropFirst()
        return ManualPage(name: name, lines: Array(rest.prefix { !$0.hasPrefix(".Sh ") }))
    }

    /// Its examples, as a reader sees them.
    var displays: [String] {
        var displays: [String] = []
        var isInside = false
        for line in lines {
            if line.hasPrefix(".Bd -literal") {
                displays.append("")
                isInside = true
            } else if line == ".Ed" {
                isInside = false
            } else if isInside {
                displays[displays.count - 1] += line.replacing("\\e", with: "\\").replacing("\\&", with: "") + "\n"
            }
        }
        return displays
    }

    /// What a macro has as its arguments, on each line on which it stands.
    func arguments(of macro: String) -> [String] {
        lines.compactMap { line in
            guard line.hasPrefix("."), let range = " \(line.dropFirst()) ".firstRange(of: " \(macro) ") else {
                return nil
            }
            return String(" \(line.dropFirst()) "[range.upperBound...].trimmingSuffix { $0 == " " })
        }
    }

    /// The words after a macro, without punctuation that stands by itself.
    func words(after macro: String) -> [String] {
        arguments(of: macro).flatMap { $0.split(separator: " ").map(String.init) }
            .filter { $0.contains { $0.isLetter || $0.isNumber } }
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> String {
        String(String(reversed().drop(while: isDropped)).reversed())
    }
}

/// A command of the program, as it tells of itself.
struct CommandHelp: Decodable, Sendable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            /// As it is typed: `--json`, `-y`.
            var option: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var names: [Name]?
        var shouldDisplay: Bool

        var options: [String] { names?.map(\.option) ?? [] }
    }

    private struct Tool: Decodable { var command: CommandHelp }

    var commandName: String
    var discussion: String?
    var arguments: [Argument]?
    var subcommands: [CommandHelp]?
    var shouldDisplay: Bool

    private static let program: Task<CommandHelp, any Error> = Task {
        let program = BuiltProducts.path("syncagent").string
        let json = try await Program.run(program, "--experimental-dump-help").output
        return try JSONDecoder().decode(Tool.self, from: Data(json.utf8)).command
    }

    /// The whole program, which is asked once.
    static func ofProgram() async throws -> CommandHelp { try await program.value }

    /// Its commands, with those below others as `config check`; `config` itself is what it does without one.
    var all: [(name: String, command: CommandHelp)] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap { command in
            let below = (command.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
            return below.isEmpty
                ? [(command.commandName, command)]
                : below.map {
                    ($0.commandName == "show" ? command.commandName : "\(command.commandName) \($0.commandName)", $0)
                }
        }
    }

    /// The options that its help shows, by how they are typed; `true` if they take a value.
    var options: [String: Bool] {
        var options: [String: Bool] = [:]
        for argument in arguments ?? [] where argument.shouldDisplay {
            for name in argument.options { options[name] = argument.kind == "option" }
        }
        return options
    }

    /// The exit codes that its help names, without 0.
    var exitCodes: Set<Int> {
        let parts = (discussion ?? "").components(separatedBy: "Exit code")
        return CommandHelp.codes(in: parts.last ?? "")
    }

    static func codes(in text: String) -> Set<Int> {
        Set(text.matches(of: /\b(?:1|3|64|65|69|73|75|78)\b/).compactMap { Int($0.0) })
    }
}
