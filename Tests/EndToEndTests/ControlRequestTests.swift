// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// The table of refusals is in `AgentServerTests/ControlServerTests`.
@Suite("Malformed control requests", .timeLimit(.minutes(15)), .serialized)
struct ControlRequestTests {
    /// Sends a request with curl.
    private static func post(_ body: String, to route: String, _ world: World) async throws -> (
        status: String, text: String
    ) {
        let socket = world.folder.appending("control.sock").string
        let result = try await Program.run(
            "curl", "-s", "--unix-socket", socket, "--data-binary", "@-", "-w", "\n%{http_code}",
            "http://agent/v1/\(route)",
            reading: body)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    /// URLs that cannot be pinned, each with a part of the reason.
    private static let badURLs = [
        ("", "empty"), ("not a url", "has a space or a control character in it"), ("icons/a.png", "relative URL"),
        ("ftp://h.example/a.png", "only http and https"), ("http://h.example:65536/", "port"),
        ("http://user:pass@h.example/a.png", "user name"), ("http://h.example/\u{1B}[31m", "control character"),
        ("http://h.example/\na", "control character"), ("http://\u{FC}.example/", "Punycode"),
        ("http://h.example/" + String(repeating: "a", count: 9000), "longer than 8192 bytes"),
    ]

    /// One level more than a request may have.
    private static let deep = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)

    @Test(
        "malformed requests are refused with a reason, whoever sends them, and change nothing",
        .enabled(if: Tool.areInstalled("curl"), "takes curl"))
    func refusals() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                for (url, reason) in Self.badURLs {
                    let body = JSON.object([("url", .string(url))]).line
                    let answer = try await Self.post(body, to: "pin", world)
                    #expect(answer.status == "400" && answer.text.contains(reason), "\(url.prefix(40)): \(answer)")
                    #expect(try await Self.post(body, to: "unpin", world).status == "200", "\(url.prefix(40))")
                }
                for body in [
                    "apps.plist", "[]", "[1]", "{\"lists\":1}", "{\"a\":", "null", Self.deep,
                ] {
                    for route in ["sync/stream", "repair"] {
                        let answer = try await Self.post(body, to: route, world)
                        #expect(answer.status == "400", "\(route) \(body.prefix(20)): \(answer)")
                    }
                }
                let digest = try await Self.post("{\"images\":[\"0\"]}", to: "repair", world)
                #expect(digest.status == "400" && digest.text.contains("is not a SHA-256 digest"), "\(digest)")
                let eviction = try await Self.post("{\"url\":\"\"}", to: "eviction", world)
                #expect(eviction.status == "200" && eviction.text.contains("\"icons\": []"), "\(eviction)")
                let long = String(repeating: "a", count: 100_000)
                #expect(try await Self.post("{\"url\":\"\(long)\"}", to: "pin", world).status == "413")
                let unknown = try await world.agent.call("why", "http://h.example/\(long)")
                #expect(
                    unknown.code == 1 && unknown.messages.contains("No app list names"),
                    "\(unknown.messages.suffix(100))")
                let report = try await world.agent.status { $0.inSync }
                #expect(report.lists.count == 1 && report.icons.referenced == 1)
                #expect(try await world.agent.call("status").code == 0)
            }
        }
    }
}
