// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Other users of the machine at the control socket", .timeLimit(.minutes(15)),
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

    @Test("another user's lock on the cache holds up no start; an agent whose lock file is then removed ends with 75")
    func lock() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            for path in [world.folder, world.agent.cache] { try #require(chmod(path.string, 0o755) == 0) }
            let cache = world.agent.cache
            let reader = Task {
                _ = try? await Program.run(
                    "setpriv", "--reuid=65534", "--clear-groups", "flock", "--no-fork", cache.string, "sleep", "300")
            }
            defer { reader.cancel() }
            try await waitUntil { try await Program.run("flock", "-n", cache.string, "true").code != 0 }
            async let run = world.agent.call("run")
            try await waitUntil { access(world.folder.appending("control.sock").string, F_OK) == 0 }
            try world.drop(["Mail", "Maps"])
            try await world.published(["Mail", "Maps"])
            #expect(try await world.agent.call("run").code == 75)
            try #require(unlink(cache.appending("lock").string) == 0)
            try world.drop(["Mail", "Music"])
            let result = try await run
            #expect(result.code == 75)
            expectContains(result.messages, "lock was removed or replaced under the running agent")
            #expect(try IconCache(at: cache).document(of: "apps.plist")?.apps.map(\.name) == ["Mail", "Maps"])
        }
    }

    @Test("another user may read and change nothing, and cannot take all connections", .timeLimit(.minutes(3)))
    func others() async throws {
        try await World.with { plain in
            // A look at the folder changes the status.
            let world = plain.setting("SYNCAGENT_LISTS_RESCAN", "1h")
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
                    #expect(answer.status == "403", "\(path)")
                    expectContains(answer.text, "\"code\": \"forbidden\"", "run the command with sudo")
                }
                expectLines(try await world.agent.call("status", "--json").output, before)
                try await Self.expectSeatsLeft(world)
            }
        }
    }

    /// Expects another user who keeps connections open to be refused more, while the agent's user is answered.
    private static func expectSeatsLeft(_ world: World) async throws {
        guard access(python, X_OK) == 0 else { return print("skipped: a flood takes \(python)") }
        let script = try String(contentsOfFile: Flood.tool.string, encoding: .utf8)
        let command = user + [python, "-c", script]
        let socket = world.folder.appending("control.sock").string
        try await Flood.holding(200, "/v1/status/stream", at: socket, world, command: command) { _ in
            try await waitUntil {
                let answer = try await ask("GET", "status", world)
                return answer.status == "503" && answer.text.contains("\"busy\"")
            }
            #expect(try await world.agent.call("pause").code == 0)
        }
        try await waitUntil { try await ask("GET", "status", world).status == "200" }
    }

    /// Runs a command as another user.
    private static let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    @Test(
        "members of control.group may change things; with control.readers group, other users read nothing any more",
        .timeLimit(.minutes(3)))
    func members() async throws {
        try await World.with { world in
            try #require(chmod(world.folder.string, 0o755) == 0)
            let closed = world.setting("SYNCAGENT_CONTROL_GROUP", "daemon")
                .setting("SYNCAGENT_CONTROL_READERS", "group")
            let program = BuiltProducts.path("syncagent").string
            guard try await Program.run(Self.user + ["test", "-x", program]).code == 0 else {
                print("skipped: another user cannot run \(program)")
                return try await closed.agent.whileRunning { _ in try await Self.expectMembers(closed) }
            }
            let (starts, started) = AsyncStream.makeStream(of: Void.self)
            let result = try await withThrowingTaskGroup(of: Program?.self) { group in
                group.addTask {
                    try await world.agent.whileRunning { _ in
                        started.finish()
                        let file = world.folder.appending("started")
                        try await waitUntil { access(file.string, F_OK) == 0 }
                    }
                    try await closed.agent.whileRunning { _ in
                        let file = world.folder.appending("ended")
                        try await waitUntil { access(file.string, F_OK) == 0 }
                        try await Self.expectMembers(closed)
                    }
                    return nil
                }
                group.addTask {
                    for await _ in starts {}
                    let command = """
                        \(Self.user.joined(separator: " ")) "$program" events --follow --limit 1 \
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
            expectContains(try #require(result?.messages), "control.sock: Permission denied. Run this command")
        }
    }

    private static func expectMembers(_ world: World) async throws {
        let id = try #require(getgrnam("daemon")?.pointee.gr_gid)
        let member = try await ask("POST", "pause", groups: "--groups=\(id)", world)
        #expect(member.status == "200", "\(member)")
        let other = try await ask("POST", "resume", groups: "--clear-groups", group: Int(id), world)
        #expect(other.status == "200", "\(other)")
        // The socket's mode keeps others from connecting at all.
        #expect(try await ask("GET", "status", world).status == "000")
        // The agent may be unable to give the socket to the group; everyone can then connect.
        try #require(chmod(world.folder.appending("control.sock").string, 0o666) == 0)
        let foreign = try await ask("GET", "status", world)
        #expect(foreign.status == "403" && foreign.text.contains("members of group daemon"), "\(foreign)")
        let unsupplied = try await ask("POST", "pause", groups: "--groups=\(id + 1),\(id + 2)", world)
        #expect(unsupplied.status == "403", "\(unsupplied)")
    }
}
