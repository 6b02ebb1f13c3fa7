// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Another user of the machine at the control socket",
    .enabled(
        if: geteuid() == 0 && Tool.areInstalled("setpriv", "curl"),
        "becoming another user takes root's rights, setpriv and curl"))
struct ForeignUserTests {
    /// Debian's: one of root's own, which may come first in the PATH, is closed to others.
    private static let python = "/usr/bin/python3"

    /// Sends a request as another user, with some groups.
    private static func ask(
        _ method: String, _ path: String, groups: String = "--clear-groups", group: Int = 65534,
        _ world: World
    ) async throws -> (status: String, text: String) {
        let socket = world.folder.appending("control.sock").string
        let command = """
            setpriv --reuid=65534 --regid=\(group) \(groups) curl -s --max-time 20 --unix-socket "$socket" -X \(method) \
            \(method == "GET" ? "" : "--data-binary {}") -w '\\n%{http_code}' "http://agent/v1/\(path)"
            """
        let result = try await Program.run("sh", "-c", command, environment: ["socket": socket])
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    /// What changes something, from the description of the API.
    private static func changing(_ world: World) async throws -> [String] {
        struct Description: Decodable {
            struct Operation: Decodable {}
            var paths: [String: [String: Operation]]
        }
        let text = try await ask("GET", "openapi.json", world).text
        let paths = try JSONDecoder().decode(Description.self, from: Data(text.utf8)).paths
        let posted = paths.filter { $0.value["post"] != nil }.keys.map { String($0.dropFirst("/v1/".count)) }
        // These are questions with long URLs.
        return posted.filter { !["why", "eviction"].contains($0) }
    }

    @Test("may read, and is refused on every verb that changes something, with a message that says who may")
    func others() async throws {
        try await World.with { world in
            try #require(chmod(world.folder.string, 0o755) == 0)
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                let before = try await world.agent.call("status", "--json").output
                for path in ["health", "status", "lists", "lists/apps.plist", "pins", "eviction", "settings"] {
                    let answer = try await Self.ask("GET", path, world)
                    #expect(answer.status == "200", "\(path): \(answer)")
                }
                let changing = try await Self.changing(world)
                #expect(Set(["pin", "retry", "refresh", "purge"]).isSubset(of: changing) && changing.count >= 12)
                for path in changing {
                    let answer = try await Self.ask("POST", path, world)
                    #expect(
                        answer.status == "403" && answer.text.contains("\"code\": \"forbidden\""), "\(path): \(answer)")
                    #expect(answer.text.contains("run the command with sudo"), "\(path): \(answer)")
                }
                #expect(try await world.agent.call("status", "--json").output == before)
            }
        }
    }

    @Test("may change things as a member of control.group, and not read otherwise if control.readers is group")
    func members() async throws {
        try await World.with { world in
            try #require(chmod(world.folder.string, 0o755) == 0)
            let world = world.setting("SYNCAGENT_CONTROL_GROUP", "daemon").setting("SYNCAGENT_CONTROL_READERS", "group")
            let id = try #require(getgrnam("daemon")?.pointee.gr_gid)
            try await world.agent.whileRunning { _ in
                let member = try await Self.ask("POST", "pause", groups: "--groups=\(id)", world)
                #expect(member.status == "200", "\(member)")
                let other = try await Self.ask("POST", "resume", groups: "--clear-groups", group: Int(id), world)
                #expect(other.status == "200", "\(other)")
                // The socket's mode keeps others from connecting at all.
                #expect(try await Self.ask("GET", "status", world).status == "000")
                // One that is open to all, as when the agent may not give its file to the group.
                try #require(chmod(world.folder.appending("control.sock").string, 0o666) == 0)
                let foreign = try await Self.ask("GET", "status", world)
                #expect(foreign.status == "403" && foreign.text.contains("members of group daemon"), "\(foreign)")
                let unsupplied = try await Self.ask("POST", "pause", groups: "--groups=\(id + 1),\(id + 2)", world)
                #expect(unsupplied.status == "403", "\(unsupplied)")
            }
        }
    }

    @Test(
        "cannot lock the others out with streams: it has a part of the seats, and is told so",
        .enabled(if: access(python, X_OK) == 0, "this takes \(python)"), .timeLimit(.minutes(2)))
    func flood() async throws {
        try await World.with { world in
            try #require(chmod(world.folder.string, 0o755) == 0)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                let tool = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Tools/flood")
                let script = try String(contentsOfFile: tool.string, encoding: .utf8)
                async let flood = Program.run(
                    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Self.python, "-c", script, "ignore",
                    world.folder.appending("control.sock").string, "/v1/status/stream", "1000", "8")
                try await waitUntil {
                    let answer = try await Self.ask("GET", "status", world)
                    return answer.status == "503" && answer.text.contains("\"busy\"")
                }
                let begun = ContinuousClock.now
                let paused = try await world.agent.call("pause")
                #expect(paused.code == 0 && ContinuousClock.now - begun < .seconds(5), "\(paused)")
                #expect(try await flood.code == 0)
                try await waitUntil { try await Self.ask("GET", "status", world).status == "200" }
            }
        }
    }

    @Test("that follows the events ends when it may not read any more", .timeLimit(.minutes(2)))
    func follower() async throws {
        try await World.with { world in
            try #require(chmod(world.folder.string, 0o755) == 0)
            let (starts, started) = AsyncStream.makeStream(of: Void.self)
            let program = BuiltProducts.path("syncagent").string
            let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            guard try await Program.run(user + ["test", "-x", program]).code == 0 else {
                print("skipped: another user cannot run \(program)")
                return
            }
            let result = try await withThrowingTaskGroup(of: Program?.self) { group in
                group.addTask {
                    try await world.agent.whileRunning { _ in
                        started.finish()
                        let file = world.folder.appending("started")
                        try await waitUntil { access(file.string, F_OK) == 0 }
                    }
                    try await world.setting("SYNCAGENT_CONTROL_READERS", "group").agent.whileRunning { _ in
                        let file = world.folder.appending("ended")
                        try await waitUntil { access(file.string, F_OK) == 0 }
                    }
                    return nil
                }
                group.addTask {
                    for await _ in starts {}
                    let command = """
                        \(user.joined(separator: " ")) "$program" events --follow --limit 1 \
                        --socket "$folder/control.sock" | { read line; : > "$folder/started"; cat; }; : > "$folder/ended"
                        """
                    return try await Program.run(
                        "sh", "-c", command,
                        environment: ["program": program, "folder": world.folder.string, "HOME": "/nonexistent"])
                }
                var result: Program?
                while let next = try await group.next() { result = next ?? result }
                return result
            }
            let messages = try #require(result?.messages)
            #expect(messages.contains("control.sock: Permission denied. Run this command"), "\(messages)")
        }
    }

    @Test("an agent whose control.group does not exist ends with exit code 78, and says what to do")
    func unknownGroup() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CONTROL_GROUP", "no-such-group")
            let result = try await world.agent.call("run")
            #expect(result.code == 78, "\(result.messages)")
            #expect(result.messages.contains("control.group: there is no group “no-such-group”"), "\(result.messages)")
        }
    }
}
