// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import FoundationEssentials
import SyncAgent
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Manual pages")
struct ManualPageTests {
    /// The part of `syncagent.1` on each command.
    private static func parts() throws -> [(name: String, lines: [String])] {
        var parts: [(name: String, lines: [String])] = []
        for line in try ManualPage("syncagent.1").section("COMMANDS").lines {
            if line.hasPrefix(".It Cm ") {
                let words = line.split(separator: " ").dropFirst(2).prefix { $0 != "Op" && $0 != "Ar" }
                parts.append((words.joined(separator: " "), []))
            } else if !parts.isEmpty {
                parts[parts.count - 1].lines.append(line)
            }
        }
        return parts
    }

    /// The options that items of a list are about; `true` if they take a value.
    private static func options(in lines: [String]) -> [String: Bool] {
        var options: [String: Bool] = [:]
        for line in lines where line.hasPrefix(".It Fl ") {
            for match in line.matches(of: /Fl (-?[a-z-]+)/) { options["-\(match.1)"] = line.contains(" Ar ") }
        }
        return options
    }

    @Test(
        "mandoc finds no fault in a manual page", .enabled(if: Tool.areInstalled("mandoc"), "takes mandoc"),
        arguments: ManualPage.names)
    func lint(name: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(name)
            try write(ManualPage(name).text, to: path)
            let result = try await Program.run("mandoc", "-T", "lint", "-W", "warning", path.string)
            #expect(result.code == 0 && result.output.isEmpty, "\(result.output)\(result.messages)")
        }
    }

    @Test(
        "groff finds no fault in a manual page", .enabled(if: Tool.areInstalled("groff"), "takes groff"),
        arguments: ManualPage.names)
    func groff(name: String) async throws {
        let result = try await Program.run("groff", "-mdoc", "-Tutf8", "-ww", "-P-cbou", reading: ManualPage(name).text)
        #expect(result.code == 0 && result.messages.isEmpty, "\(result.messages)")
    }

    @Test("syncagent.1 has every command with its options, and no others")
    func commands() async throws {
        let program = try await CommandHelp.ofProgram().all
        let parts = try Self.parts()
        #expect(parts.map(\.name).sorted() == program.map(\.name).sorted())
        let common = Self.options(in: try ManualPage("syncagent.1").section("OPTIONS").lines)
        for (name, command) in program {
            let part = try #require(parts.first { $0.name == name })
            let own = command.options.filter { common[$0.key] == nil }
            #expect(Self.options(in: part.lines) == own, "\(name)")
            // The section OPTIONS says which commands take which.
            let taken = Set(command.options.keys).intersection(common.keys)
            var expected = Set(common.keys)
            if ["demo", "config default", "key generate"].contains(name) { expected = ["-h", "--help", "--version"] }
            if name == "config check" { expected.remove("--color") }
            #expect(taken == expected, "\(name)")
            for option in taken { #expect(command.options[option] == common[option], "\(name) \(option)") }
        }
    }

    @Test("syncagent.1 has the exit codes of each command's help, and a table of all exit codes")
    func exitCodes() async throws {
        let parts = try Self.parts()
        for (name, command) in try await CommandHelp.ofProgram().all {
            let lines = try #require(parts.first { $0.name == name }).lines
            let sentence = lines.drop { !$0.hasPrefix("Exits ") }.prefix { !$0.hasPrefix(".Ss") }
            #expect(CommandHelp.codes(in: sentence.joined(separator: "\n")) == command.exitCodes, "\(name)")
            #expect(!command.exitCodes.isEmpty, "\(name)")
        }
        let table = try ManualPage("syncagent.1").section("EXIT STATUS").lines.compactMap {
            $0.hasPrefix(".It ") ? Int32($0.dropFirst(4)) : nil
        }
        #expect(table == Exit.Code.allCases.map(\.rawValue))
    }

    @Test("commands and options that a manual page mentions exist", arguments: ManualPage.names)
    func mentions(name: String) async throws {
        let program = try await CommandHelp.ofProgram()
        let page = try ManualPage(name)
        var options = Set(program.all.flatMap(\.command.options.keys))
        // Of systemctl, and the parser's own.
        options.formUnion(["--now", "--generate-completion-script"])
        let inMacros = page.lines.flatMap { $0.matches(of: /\bFl (-[a-z-]+)/).map { "-\($0.1)" } }
        let inText = page.text.replacing("\\-", with: "-").matches(of: /(?:^|\s)(--[a-z][a-z-]+)/).map { String($0.1) }
        for option in inMacros + inText { #expect(options.contains(option), "\(option)") }
        let commands = Set(program.all.map { String($0.name.prefix { $0 != " " }) })
        let texts = page.displays.flatMap { $0.split(separator: "\n").map(String.init) } + page.arguments(of: "Ql")
        let calls = texts.flatMap { $0.matches(of: /(?:^|sudo |\()syncagent ([a-z]+)/).map { String($0.1) } }
        for call in calls { #expect(commands.contains(call), "syncagent \(call)") }
    }

    @Test("references of a manual page lead to pages of syncagent or of other programs", arguments: ManualPage.names)
    func references(name: String) throws {
        let references = try ManualPage(name).arguments(of: "Xr").map {
            $0.split(separator: " ").prefix(2).joined(separator: ".")
        }
        #expect(!references.isEmpty)
        for reference in references where reference.hasPrefix("syncagent") {
            let isOther = reference == "syncagent-launcher.1"
            #expect(isOther || ManualPage.names.contains(reference), "\(reference)")
        }
    }

    @Test("files that a manual page names are where the program has them", arguments: ManualPage.names)
    func files(name: String) throws {
        // What the unit hides, and where `Packaging/install` puts documents.
        let known =
            try Self.places() + [
                "/etc/default/syncagent-export", "/etc/syncagent/rclone.conf", "/home", "/tmp",
                "/usr/share/doc/syncagent", "/var/cache/syncagent/share",
                "/var/lib/syncagent-export",
            ]
        for path in try ManualPage(name).words(after: "Pa")
        where path.hasPrefix("/") || path.hasPrefix("$") || path.hasPrefix("~") {
            let isKnown = known.contains { $0 == path || $0.hasPrefix(path + "/") || path == $0 + "/*.plist" }
            #expect(isKnown, "\(path)")
        }
    }

    @Test("syncagent.1 names all folders and files of an agent")
    func allFiles() throws {
        let named = Set(try ManualPage("syncagent.1").section("FILES").words(after: "Pa"))
        // Without the variables, they are in the home.
        let places = try Self.places().filter { !$0.hasPrefix("~") && !$0.contains("libexec") }
        #expect(named.isSuperset(of: places), "\(Set(places).subtracting(named))")
    }

    /// The paths of the system's agent, of a user's own, and of the helper programs.
    private static func places() throws -> [String] {
        func paths(_ place: SyncAgentCLI.Place) -> [String] {
            let folders = place.folders
            return [folders.lists, folders.cache, folders.state, folders.socket, place.file].map(\.string)
        }
        func own(_ variable: @escaping (String) -> String?) throws -> [String] {
            paths(
                try PlaceChoice().place(
                    in: PlaceChoice.Environment(
                        variable: variable, directory: { nil }, exists: { _ in false }, target: { _ in nil },
                        isAnswered: { _ in false })))
        }
        let named = try own { "/\($0)" }.map { "$" + $0.dropFirst() }
        let atHome = try own { $0 == "HOME" ? "/~" : nil }.map { String($0.dropFirst()) }
        let helpers = ["watch", "parse"].map { "/usr/libexec/syncagent/syncagent-\($0)" }
        return paths(PlaceChoice.system) + named + atHome + helpers
    }

    @Test("variables that a manual page names are read by the program", arguments: ManualPage.names)
    func variables(name: String) throws {
        let sources = try Self.sources()
        let settings = Set(SettingKey.all.map(\.variable))
        for variable in try ManualPage(name).words(after: "Ev") where variable != "SYNCAGENT_*" {
            #expect(settings.contains(variable) || sources.contains("\"\(variable)\""), "\(variable)")
        }
    }

    /// All sources in one text.
    private static func sources() throws -> String {
        let folder = Article.project.appending("Sources").string
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        return try files.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
    }

    @Test("settings that a manual page names exist", arguments: ManualPage.names)
    func settings(name: String) throws {
        let settings = Set(SettingKey.all.map(\.name))
        for setting in try ManualPage(name).words(after: "Ic") where setting.contains(".") {
            #expect(settings.contains(setting), "\(setting)")
        }
    }

    @Test("the article Operation explains the codes in syncagent.8")
    func codes() throws {
        let article = try Article("Operation", of: "SyncAgent").text
        let codes = try ManualPage("syncagent.8").section("DIAGNOSTICS").lines
            .filter { $0.hasPrefix(".It Sy ") }
            .flatMap { $0.dropFirst(7).replacing("Sy ", with: "").split(separator: " ").filter { $0 != "," } }
        #expect(codes.count > 5)
        for code in codes { #expect(article.contains("`\(code)`"), "\(code)") }
    }
}
