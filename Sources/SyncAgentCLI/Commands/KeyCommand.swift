// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Fleet
import SystemPackage

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create keys that sign exports.",
        usage: "syncagent key generate [--output <name>]",
        discussion: """
            Keys and signatures are in minisign format; signify can verify them, too.

            Examples:
              syncagent key generate --output /etc/syncagent/export
              syncagent help key generate

            Exit code 73: a file exists, or cannot be written.
            """,
        subcommands: [Generate.self])
}

extension KeyCommand {
    struct Generate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate", abstract: "Create a key pair, and print its public key.",
            usage: "syncagent key generate [--output <name>]",
            discussion: """
                Writes NAME.key, the secret key, which has no password and which only its owner can read; and NAME.pub. \
                Files that exist are never replaced. Prints the line for upstream.publicKeys.

                Examples:
                  syncagent key generate
                  syncagent key generate --output /etc/syncagent/export

                Exit code 73: a file exists, or cannot be written.
                """)

        @Option(
            help: ArgumentHelp("The path of both files, without .key and .pub.", valueName: "name"),
            completion: .file())
        var output = "syncagent"

        func run() async throws {
            guard let last = FilePath(output).lastComponent, !output.ends(withBytes: "/"), last.kind == .regular else {
                throw Exit.because("“\(output)” is not a file name: write --output NAME.", code: .usage)
            }
            var generator = SystemRandomNumberGenerator()
            let key = SecretKey(using: &generator)
            try Exit.with(.folder) { try KeyFiles.write(key, to: output) }
            try Message.output(["\(key.publicKey)"])
        }
    }
}
