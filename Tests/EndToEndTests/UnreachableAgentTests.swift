// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Unreachable agent", .timeLimit(.minutes(15)))
struct UnreachableAgentTests {
    @Test("with another socket, status says that the agent runs and reads the disk; other commands name the obstacle")
    func otherSocket() async throws {
        try await World.with { world in
            // What the caller's settings make of the list is no trouble of the agent's.
            let caller = world.setting("SYNCAGENT_LISTS_MAX_BYTES", "1B")
            try world.drop(["Mail"])
            let elsewhere = ["--socket", world.folder.appending("other.sock").string]
            try await world.agent.whileRunning { agent in
                try await world.published(["Mail"])
                let status = try await caller.agent.call(["status"] + elsewhere)
                #expect(status.code == 1, "\(status.messages)")
                let end = "syncagent \(Version.current) is running, not reachable from here (process \(agent.value))\n"
                #expect(status.output.hasSuffix(end), "\(status.output.suffix(200))")
                #expect(status.output.hasPrefix("The agent is running, but does not respond; "), "\(status.output)")
                expectContains(status.output, ", in sync\n", "apps.plist  ok        1      1")
                let obstacle = """
                    syncagent: The agent (process \(agent.value)) is running, but no process listens at \(elsewhere[1]): \
                    it is starting or stopping, or has another socket. Try again, or name its socket with --socket.
                    """
                #expect(status.messages == obstacle + " The output is read from disk.\n")
                let json = try await caller.agent.call(["status", "--json"] + elsewhere)
                #expect(json.code == 1)
                expectContains(
                    json.output, "\"state\": \"running\", \"pid\": \(agent.value), \"reachable\": false, \"version\"",
                    "\"eviction\": { \"state\": \"unknown\", \"reason\": null, \"leases\": null }")
                let pause = try await world.agent.call(["pause"] + elsewhere)
                #expect(pause.code == 69 && pause.messages == obstacle + "\n")
                let why = try await world.agent.call(["why", world.origin.iconURL("Mail")] + elsewhere)
                #expect(why.code == 0 && why.messages == obstacle + " The output is read from disk.\n")
                let list = world.agent.lists.appending("apps.plist").string
                for command in [["check", list], ["list", "apps.plist"]] {
                    let result = try await world.agent.call(command + elsewhere)
                    #expect(
                        result.code == 0 && result.messages.hasPrefix(obstacle + " This command uses the "),
                        "\(command): \(result)")
                }
                #expect(try await world.agent.call("status", "--json").output.contains("\"reachable\": true"))
            }
            let stopped = try await world.agent.call(["status"] + elsewhere)
            #expect(stopped.code == 3 && stopped.output.hasPrefix("The agent is stopped. The only icon is on disk.\n"))
            #expect(stopped.messages.isEmpty)
            let pause = try await world.agent.call(["pause"] + elsewhere)
            #expect(pause.code == 69)
            #expect(
                pause.messages
                    == "syncagent: No agent answers at \(elsewhere[1]): start it, or name its socket with --socket.\n")
        }
    }

    @Test(
        "to a user who may not read, status and events say that permission is denied, never that the agent is stopped",
        .enabled(
            if: geteuid() == 0 && Tool.areInstalled("setpriv"),
            "becoming another user takes root's rights and setpriv"))
    func otherUser() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CONTROL_READERS", "group")
            try world.drop(["Mail"])
            try #require(chmod(world.folder.string, 0o755) == 0)
            let program = BuiltProducts.path("syncagent").string
            @Sendable func run(_ command: String) async throws -> Program {
                try await Program.run(
                    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", command,
                    environment: [
                        "program": program,
                        "folders": "--cache \(world.agent.cache) --socket \(world.folder)/control.sock",
                        "others": "--cache /nonexistent/c --state /nonexistent/s --socket \(world.folder)/control.sock",
                        "HOME": "/nonexistent",
                    ])
            }
            guard try await run("test -x \"$program\"").code == 0 else {
                print("skipped: another user cannot run \(program)")
                return
            }
            try await world.agent.whileRunning { agent in
                try await world.published(["Mail"])
                let status = try await run("\"$program\" status $folders")
                #expect(status.code == 0, "\(status.messages)")
                #expect(
                    status.output.hasSuffix(
                        "syncagent \(Version.current) is running, not reachable from here (process \(agent.value))\n"),
                    "\(status.output)")
                #expect(!status.output.contains("suspended"), "\(status.output)")
                #expect(
                    status.messages.contains("control.sock: Permission denied. Run this command as the agent's user"))
                try #require(chmod(world.agent.cache.string, 0o750) == 0)
                let closed = try await run("\"$program\" status $folders")
                #expect(closed.code == 1)
                expectContains(closed.output, "may be running")
                expectContains(closed.messages, "Cannot tell whether an agent is running")
                // With another cache, only the socket tells that there may be an agent.
                for (command, code) in [("status", 1), ("pause", 69), ("events --follow", 69)] {
                    let denied = try await run("\"$program\" \(command) $others")
                    #expect(
                        denied.code == code && denied.messages.contains("control.sock: Permission denied. Run this"),
                        "\(command): \(denied.messages)")
                    #expect(!denied.output.contains("stopped"), "\(command): \(denied)")
                }
            }
            try #require(chmod(world.agent.cache.string, 0o755) == 0)
            #expect(try await run("\"$program\" status $folders").code == 3)
        }
    }
}
