// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Requests at the control socket that are not from the agent's own program", .serialized)
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

    @Test(
        "a URL that cannot be pinned is refused, whoever asks",
        .enabled(if: Tool.areInstalled("curl"), "this takes curl"),
        arguments: [
            ("", "empty"), ("not a url", "has a space or a control character in it"), ("icons/a.png", "relative URL"),
            ("ftp://h.example/a.png", "only http and https"), ("http://h.example:65536/", "port"),
            ("http://user:pass@h.example/a.png", "user name"), ("http://h.example/\u{1B}[31m", "control character"),
            ("http://h.example/\na", "control character"), ("http://⑩.example/", "Punycode"),
            ("http://h.example/" + String(repeating: "a", count: 9000), "longer than 8192 bytes"),
        ])
    func pins(url: String, reason: String) async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                let body = JSON.object([("url", .string(url))]).line
                let answer = try await Self.post(body, to: "pin", world)
                #expect(answer.status == "400" && answer.text.contains(reason), "\(answer)")
                let report = try await world.agent.status { $0.inSync }
                #expect(report.lists.isEmpty && report.icons.referenced == 0)
                #expect(try await Self.post(body, to: "unpin", world).status == "200")
            }
        }
    }

    @Test(
        "what is no request is refused, and changes nothing", .enabled(if: Tool.areInstalled("curl"), "this takes curl")
    )
    func others() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                for body in [
                    "apps.plist", "[]", "[1]", "{\"lists\":1}", "{\"a\":", "null",
                    String(repeating: "[", count: 100_000),
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
                #expect(try await world.agent.call("status").code == 0)
            }
        }
    }
}
