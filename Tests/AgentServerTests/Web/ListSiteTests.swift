// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import NIOHTTP1
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer

@Suite("Lists over HTTP", .timeLimit(.minutes(5)))
struct ListSiteTests {
    private static let document = AppListDocument(
        list: "my apps.plist", source: AppListDocument.Source(sha256: .of("x"), bytes: 1, modified: Sample.time),
        apps: [AppListDocument.App(name: "Mail", icon: "https://h.example/a.png", download: nil, state: .pending)])

    /// Puts a manifest with the list into the cache, as a publication does.
    private static func publish(in world: WebWorld) throws {
        let text = document.text
        let list = Manifest.List(sha256: .of(text), apps: 1, ready: 0, pending: 1, failed: 0)
        try write(text, to: world.cache.appending(FilePath(list.document).components))
        let manifest = Manifest(generation: 9, published: Sample.time, lists: ["my apps.plist": list])
        try write(manifest.text, to: world.cache.appending("manifest.json"))
    }

    private static func serving(
        _ world: WebWorld, origins: [String] = [], memory: Allowance = Allowance(1 << 20),
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let site = ListSite(reader: world.reader, origins: origins, memory: memory)
        try await world.serving({ request, _ in await site.respond(to: request) }, body)
    }

    @Test("a list is its document as it was published, with its digest as tag; the index names all lists")
    func documents() async throws {
        try await WebWorld.with { world in
            try Self.publish(in: world)
            try await Self.serving(world) { port in
                let answer = try await WebWorld.ask(port, "/lists/my%20apps.plist.json")
                #expect(answer.status == 200 && answer.body == Self.document.text)
                #expect(answer.fields["content-type"] == "application/json")
                #expect(answer.fields["cache-control"] == "no-cache")
                let tag = "\"\(Digest.of(Self.document.text).hex)\""
                #expect(answer.fields["etag"] == tag)
                let same = try await WebWorld.ask(port, "/lists/my%20apps.plist.json", [("if-none-match", tag)])
                #expect(same.status == 304 && same.body.isEmpty)
                let index = try await WebWorld.ask(port, "/lists")
                expectContains(
                    index.text, #"{ "name": "my apps.plist", "apps": 1, "ready": 0, "pending": 1, "failed": 0 }"#)
                for target in [
                    "/lists/my%20apps.plist", "/lists/other.plist.json", "/lists/..%2fmanifest.json", "/lists/",
                ] {
                    #expect(try await WebWorld.ask(port, target).status == 404, "\(target)")
                }
                #expect(try await WebWorld.ask(port, .POST, "/lists").status == 405)
            }
        }
    }

    @Test("while clients have not read as many documents as memory allows, others are asked to try again")
    func memory() async throws {
        try await WebWorld.with { world in
            try Self.publish(in: world)
            let memory = Allowance(1)
            try await Self.serving(world, memory: memory) { port in
                do {
                    let unread = try memory.count(Response(status: .ok), as: 1)
                    let refusal = try await WebWorld.ask(port, "/lists")
                    #expect(refusal.status == 503 && refusal.fields["retry-after"] == "1")
                    expectContains(refusal.text, "busy")
                    withExtendedLifetime(unread) {}
                }
                #expect(try await WebWorld.ask(port, "/lists").status == 200)
                #expect(try await WebWorld.ask(port, "/lists").status == 200)
            }
        }
    }

    @Test(
        "only scripts of the origins that are named may read lists",
        arguments: [
            ([], "https://k.example", nil), (["https://k.example"], "https://k.example", "https://k.example"),
            (["https://k.example"], "https://other.example", nil), (["https://k.example"], "null", nil),
            (["null"], "null", "null"), (["*"], "https://other.example", "*"),
        ] as [([String], String, String?)])
    func origins(named: [String], sender: String, allowed: String?) async throws {
        try await WebWorld.with { world in
            try Self.publish(in: world)
            try await Self.serving(world, origins: named) { port in
                let answer = try await WebWorld.ask(port, "/lists", [("origin", sender)])
                #expect(answer.status == 200)
                #expect(answer.fields["access-control-allow-origin"] == allowed)
                #expect(answer.fields["vary"] == (named.isEmpty || named == ["*"] ? nil : "Origin"))
                #expect(answer.fields["cross-origin-resource-policy"] == "same-origin")
            }
        }
    }
}
