// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import ArgumentParser
import CacheFormat
import Glibc
import HTTPRules
import Reports
import SyncAgent
import SystemPackage

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the settings in force, check files, print all defaults.",
        usage: "syncagent config [<key> | check <file> ... | default] [options]",
        discussion: """
            Without a subcommand it prints each setting with its value and where that comes from: a line of the \
            configuration file, a variable, an option, or the default. With a key it prints only the value, for scripts. It \
            asks the running agent; without one it shows what syncagent run would use.

            Examples:
              syncagent config fetch.maxBytes
              syncagent config check && syncagent reload

            Exit code 78: the configuration is wrong.
            """,
        subcommands: [Show.self, Check.self, Default.self, Man.self], defaultSubcommand: Show.self)
}

extension ConfigCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the settings in force, and where each one comes from.",
            usage: "syncagent config [<key>] [--changed] [--json] [options]",
            discussion: """
                Examples:
                  syncagent config --changed
                  syncagent config fetch.maxBytes

                Exit code 78: the configuration is wrong.
                """)

        @Argument(
            help: ArgumentHelp(
                "Print only the value of this setting, such as fetch.maxBytes, or the settings of a table, such as fetch.",
                valueName: "key"),
            completion: .list(SettingKey.tables + SettingKey.all.map(\.name)))
        var key: String?

        @Flag(help: "Only show settings that differ from their defaults, or will after a restart.")
        var changed = false

        @OptionGroup var output: ReportOptions
        @OptionGroup var configuration: Configuration

        /// Whether the argument is a setting or a table, perhaps misspelt, rather than a subcommand.
        static func takes(_ text: String) -> Bool {
            text.utf8.contains(UInt8(ascii: ".")) || SettingKey.tables.contains(text)
                || SettingKey.nearest(to: text) != nil
        }

        func validate() throws {
            guard let key, SettingKey.named(key) == nil, !SettingKey.tables.contains(key) else { return }
            let near = SettingKey.nearest(to: key)?.name ?? SettingKey.nearestTable(to: key)
            throw ValidationError("There is no setting \(key).\(near.map { " Did you mean \($0)?" } ?? "")")
        }

        func run() async throws {
            var report = try await report()
            report.settings.removeAll { !shows($0) }
            try output.show(report.json) { width in
                if let key, SettingKey.named(key) != nil { return report.settings.map { StyledText($0.value) } }
                return Self.lines(of: report, isPart: key != nil, width: width)
            }
        }

        private func shows(_ setting: SettingsReport.Setting) -> Bool {
            let isNamed = key.map { setting.key == $0 || setting.key.starts(withBytes: $0 + ".") } ?? true
            return isNamed && (!changed || setting.value != setting.default || setting.needsRestart)
        }

        private func report() async throws -> SettingsReport {
            // With --set, the command shows the settings that these values would lead to, so it does not ask the agent.
            if configuration.assignments.isEmpty,
                let report = try await configuration.askIfPossible({ try await $0.settings() }).answer
            {
                return report
            }
            let place = try configuration.place()
            // The caller's environment is not that of the system's agent.
            let isOwn = place.folders != PlaceChoice.system.folders
            if isOwn { Configuration.warnOfUnknownVariables() }
            var effective = configuration.effectiveSettings(place, inEnvironment: isOwn)
            if isOwn { effective.applyCertificatesOfShell() }
            try Configuration.end(because: effective.problems)
            return SettingsReport(place, effective.rows())
        }

        private static func lines(of report: SettingsReport, isPart: Bool, width: Int?) -> [StyledText] {
            var table = Table("SETTING", .init("VALUE", least: 12), "FROM")
            for setting in report.settings {
                let restart = setting.needsRestart ? "; the configured value needs a restart" : ""
                table.add(
                    StyledText(setting.key), StyledText(setting.value.isEmpty ? "-" : setting.value),
                    StyledText((setting.place ?? setting.source) + restart))
            }
            let agent =
                report.pid.map { "is running (process \($0))" }
                ?? "not asked: these are the settings that syncagent run would use"
            let rows = report.settings.isEmpty ? ["All settings have their defaults."] : table.lines(fitting: width)
            if isPart { return rows }
            let folders = report.folders
            let head = [
                "agent   \(agent)", "file    \(report.file)", "lists   \(folders.lists)", "cache   \(folders.cache)",
                "state   \(folders.state)", "socket  \(folders.socket)", "",
            ]
            // Paths are not wrapped, so that they can be copied.
            return head.flatMap { StyledText($0).wrapped(to: width) } + rows
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check configuration files, before you reload or restart the agent.",
            usage: "syncagent config check [<file> ...] [options]",
            discussion: """
                Examples:
                  syncagent config check
                  syncagent config check /etc/syncagent/syncagent.toml

                Exit code 78: a file has errors. All of them are printed, up to 50 of each file.
                """)

        @Argument(
            help: "The files. Default: the configuration file of the agent.", completion: .file(extensions: ["toml"]))
        var file: [String] = []

        @OptionGroup var configuration: Configuration

        func validate() throws {
            guard configuration.assignments.isEmpty else {
                throw ValidationError("config check reads files, not --set.")
            }
        }

        func run() throws {
            var hasProblems = false
            let user = (try? configuration.place()).flatMap { AgentUser(of: $0.folders.state) }
            func report(_ problems: [ConfigurationProblem], of path: String) throws {
                hasProblems = hasProblems || !problems.isEmpty
                for problem in problems { try Message.output(sentence: "\(problem)") }
                if problems.isEmpty { try Message.output(sentence: "\(path): no errors") }
            }
            func check(_ file: CredentialsFile) throws {
                var effective = EffectiveSettings()
                effective.apply(file)
                try report(file.problems + effective.certificateProblems(in: file.path), of: file.path)
                let certificates = effective.settings.credentials.entries.compactMap(\.certificate)
                try reportUnreadable(certificates.flatMap { [$0.file, $0.key] })
                if let user, !user.mayRead(file.path) {
                    try Message.output(
                        sentence: "\(file.path): warning: the agent's user cannot read it: run chown \(user.name) "
                            + "\(ShellWord.quoted(file.path)), unless the unit has LoadCredential=\(Credentials.file)")
                }
            }
            /// Warns of files that root may read, and the agent's user may not, in its own groups; a unit can give others.
            func reportUnreadable(_ paths: [String]) throws {
                guard file.isEmpty, let user else { return }
                for path in paths where !user.mayRead(path) {
                    try Message.output(
                        sentence: "\(path): warning: the agent's user (\(user.name)) cannot read it: correct its mode, "
                            + "and those of its folders, unless the unit has SupplementaryGroups= for it")
                }
            }
            let place = file.isEmpty ? try configuration.place() : nil
            for path in place.map({ [$0.file.string] }) ?? file {
                if FilePath(path).lastComponent?.string == Credentials.file {
                    try check(CredentialsFile(path: path, isChecked: true))
                    continue
                }
                let credentials = CredentialsFile(beside: FilePath(path), isChecked: true)
                if access(credentials.path, R_OK) == 0 {
                    try check(credentials)
                } else if place != nil, errno == EACCES {
                    Message.error(
                        "Cannot read \(credentials.path): Permission denied. It is not checked. Run this command as "
                            + "root to check it.")
                }
                // Only the agent's own file may be missing.
                if let place, !place.isFileNamed, place.file.isMissing {
                    if hasProblems { break }
                    return try Message.output(sentence: "There is no \(path): the defaults are in force.")
                }
                var settings = Settings()
                settings.credentials = credentials.credentials
                var effective = EffectiveSettings(settings)
                effective.apply(ConfigurationFile(path: path))
                try report(effective.problems + effective.problemsOfMachine, of: path)
                for warning in effective.settings.warnings {
                    try Message.output(sentence: "\(path): warning: \(warning)")
                }
                try reportUnreadable([path, effective.settings.fetch.caFile].compactMap(\.self))
            }
            if hasProblems { throw Exit.with(.badConfiguration) }
        }
    }

    struct Default: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "default",
            abstract: "Print a configuration file with all settings and their defaults, in comments.",
            usage: "syncagent config default",
            discussion: """
                Examples:
                  syncagent config default > ~/.config/syncagent/syncagent.toml
                  syncagent config default | grep maxBytes

                Exit code 1: the output cannot be written.
                """)

        func run() throws { try Message.output(lines: SettingKey.defaultFile) }
    }

    struct Man: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "man", abstract: "Print the settings for syncagent.toml(5).", shouldDisplay: false)

        func run() throws { try Message.output(lines: SettingKey.manualTables) }
    }
}
