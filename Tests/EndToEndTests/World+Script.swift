// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport

@testable import SyncAgentCLI

extension World {
    /// The same world, in which a shell does something before it becomes the program.
    ///
    /// - Parameters:
    ///   - commands: What the shell does.
    ///   - wrapper: A command that runs the program, with its options.
    ///   - shell: The shell.
    /// - Returns: The world, whose agent is run by a script.
    /// - Throws: An error if the script cannot be made.
    func after(_ commands: String = "", in wrapper: String = "", shell: String = "/bin/sh") throws -> World {
        let program = BuiltProducts.path("syncagent")
        let script = try makeScript("\(commands)\nexec \(wrapper) '\(program)' \"$@\"", in: folder, shell: shell)
        var world = self
        world.agent = AgentProcess(program: script, folder: folder)
        world.agent.environment = agent.environment
        world.agent.runOptions = agent.runOptions
        return world
    }

    /// The same world, in which a script takes the place of `syncagent-parse`.
    ///
    /// - Parameter commands: What the script does.
    /// - Returns: The world, whose agent is a copy of the program: the helpers are those beside it.
    /// - Throws: An error if the files cannot be made.
    func parsing(by commands: String) async throws -> World {
        let programs = folder.appending("bin")
        try makeFolder(programs)
        for name in ["syncagent", "syncagent-watch"] {
            try await Tool.run("cp", BuiltProducts.path(name).string, programs.appending(name).string)
        }
        try makeScript(commands, in: programs).move(to: programs.appending("syncagent-parse"))
        var world = self
        world.agent = AgentProcess(program: programs.appending("syncagent"), folder: folder)
        world.agent.environment = agent.environment
        world.agent.runOptions = agent.runOptions
        return world
    }

    /// Runs the body in a world of its own, in which the agent asks a name server of ours; skips it, with a message,
    /// where that is not allowed.
    ///
    /// The agent runs in a mount namespace with another `/etc/resolv.conf`; nothing else on the machine changes.
    static func withNames(
        _ answer: @escaping @Sendable (NameServer.Question) -> NameServer.Answer,
        _ body: @escaping @Sendable (World, NameServer) async throws -> Void
    ) async throws {
        guard NameServer.isAvailable else {
            print("skipped: a name server and a mount namespace take root's rights")
            return
        }
        try await NameServer.run(answer) { server in
            try await with { world in
                let resolver = world.folder.appending("resolv.conf")
                try write(server.configuration, to: resolver)
                let command = """
                    if [ "$1" != inside ]; then exec unshare -m "$0" inside "$@"; fi
                    shift
                    mount --bind '\(resolver)' /etc/resolv.conf || exit 99
                    """
                try await body(try world.after(command), server)
            }
        }
    }

    /// The URL of an icon on a host that stands for the origin's address.
    func iconURL(_ name: String, on host: String) -> String {
        "http://\(host):\(origin.port)\(TestOrigin.iconPath(name))"
    }
}
