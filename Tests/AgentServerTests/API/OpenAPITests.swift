// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import Glibc
import HTTPTypes
import LocalHTTP
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer

@Suite("The description of the API", .timeLimit(.minutes(5)))
struct OpenAPITests {
    private static func routes(of world: ControlWorld) throws -> [APIRoute] {
        let web = WebListeners(
            settings: Settings(), cache: world.folder.appending("cache"), clients: 1, logger: .silent,
            api: world.api, access: SocketAccess(owner: geteuid(), isOpenToAll: true))
        return world.api.adding([web.route]).routes
    }

    private static func ask(
        _ method: HTTPMethod, _ path: String, _ body: String? = nil, at socket: FilePath
    ) async throws -> (status: UInt, text: String) {
        try await LocalConnection.open(to: .socket(socket.string)) { connection in
            let head = try await connection.ask(method, path, body: body.map { Array($0.utf8) })
            return (head.status.code, String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self))
        }
    }

    @Test("the description has exactly the served routes, and a GET changes nothing")
    func routes() async throws {
        let description = try Description.read()
        try await ControlWorld.with { world in
            let routes = try Self.routes(of: world)
            let keys = routes.map { "\($0.method.rawValue) \($0.path)" }
            #expect(Set(keys) == Set(description.operations.keys))
            #expect(Set(keys).count == keys.count)
            #expect(Set(description.operations.values.map(\.operationId)).count == routes.count)
            // What changes something is never a GET, which a link or a picture could send.
            #expect(routes.allSatisfy { $0.access == .read || $0.method == .post })
            for (route, key) in zip(routes, keys) {
                let text = route.access == .read ? "Changes nothing." : "Needs the right to change things."
                #expect(description.operations[key]?.description.hasPrefix(text) == true, "\(key)")
            }
        }
    }

    @Test("the description is served as it is, and names the version")
    func document() async throws {
        try await ControlWorld.with { world in
            let answer = try await Self.ask(.GET, "/v1/openapi.json", at: world.socket)
            #expect(answer.text == OpenAPI.text)
        }
        #expect(OpenAPI.text.hasPrefix("{ \"openapi\": \"3.1.0\"") && OpenAPI.text.hasSuffix(" }\n"))
        #expect(try Description.read().info.version == Version.current)
    }

    @Test("the description defines exactly the schemas and responses that it references")
    func references() throws {
        let description = try Description.read()
        let (operations, components) = (description.operations.values, description.components)
        let responses = operations.flatMap(\.responses.values)
        let bodies = operations.compactMap(\.requestBody?.content) + responses.compactMap(\.content)
        let contents = bodies + components.responses.values.map(\.content)
        let named = contents.flatMap { $0.values.map(\.schema) } + components.schemas.values
        #expect(named.reduce(into: Set()) { $0.formUnion($1.references) } == Set(components.schemas.keys))
        let shared = responses.compactMap { $0.reference?.split(separator: "/").last.map(String.init) }
        #expect(Set(shared) == Set(components.responses.keys))
    }

    @Test("enumerations of the description are the cases of the code, and codes are in the article")
    func enumerations() throws {
        let description = try Description.read()
        let found = description.components.schemas.reduce(into: [:]) { all, schema in
            all.merge(schema.value.enumerations(at: schema.key)) { a, _ in a }
        }
        let icons = IconSummary.State.allCases.map(\.rawValue)
        let evictions = StatusReport.Eviction.State.allCases.map(\.rawValue)
        let errors = APIError.Code.allCases.map(\.rawValue)
        #expect(
            found == [
                "Error.error.code": errors, "Status.state": StatusReport.State.allCases.map(\.rawValue),
                "Status.eviction.state": evictions, "Eviction.state": evictions, "Icon.state": icons,
                "Why.state": icons,
                "List.state": StatusReport.List.State.allCases.map(\.rawValue),
                "Status.upstreams.state": StatusReport.Upstream.State.allCases.map(\.rawValue),
                "Status.verdict.level": StatusVerdict.Level.allCases.map(\.rawValue),
                "Status.problems.severity": StatusProblem.Severity.allCases.map(\.rawValue),
                "Why.renderFailure.code": RenderFailure.Code.allCases.map(\.rawValue),
                "Status.purge.state": PurgeReport.State.allCases.map(\.rawValue),
            ])
        #expect(
            description.paths["/v1/icons"]?["get"]?.parameters?.first { $0.name == "state" }?.schema.values == icons)
        let article = try Article("ControlAPI", of: "SyncAgent").text
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| ") }
        for code in errors { #expect(rows.contains { $0.contains("`\(code)`") }, "\(code)") }
    }

    @Test("lines of events have exactly the members of the description")
    func events() throws {
        let description = try Description.read()
        let schema = try description.schema("Event")
        let url: IconURL = "https://h.example/a.png"
        let long = IconURL("https://h.example/" + String(repeating: "a", count: AgentEvent.longestURL))
        let events: [AgentEvent] = [
            .agentStopping, .listRemoved("a.plist"), .iconReady(url, bytes: 1, generation: 7), .iconEvicted(long),
            .iconKept(url, previous: "https://h.example/b.png"),
        ]
        let lines =
            events.map { $0.line(id: 1, time: "t") } + [EventGap(from: 1, through: 2, cause: .rotated).line(time: "t")]
        var names: Set<String> = []
        for line in lines {
            let json = try JSON(reading: line)
            #expect(try description.faults(of: json, in: schema, at: "Event") == [])
            if case .object(let members) = json { names.formUnion(members.map(\.key)) }
        }
        #expect(names == Set(schema.properties.keys))
    }

    @Test("each route takes exactly the parameters and members of the description")
    func requests() async throws {
        let description = try Description.read()
        try await ControlWorld.with { world in
            for (key, operation) in description.operations where operation.operationId != "dashboard" {
                let (method, path) = Self.parts(key)
                let parameters = (operation.parameters ?? []).filter { $0.in == "query" }.map(\.name).sorted()
                let query = try await Self.ask(method, "\(path)?unknown=1", at: world.socket)
                let known = parameters.isEmpty ? "this path takes none" : "use \(parameters.joined(separator: ", "))"
                #expect(query.status == 400, "\(key)")
                expectContains(query.text, "“unknown”: \(known).")
                #expect((operation.requestBody != nil) == (method == .POST), "\(key)")
                guard let body = operation.requestBody?.content["application/json"]?.schema else { continue }
                let answer = try await Self.ask(method, path, "{\"unknown\": 1}", at: world.socket)
                let members = body.properties.keys.sorted().map { "“\($0)”" }.joined(separator: ", ")
                let advice = members.isEmpty ? "send no body." : "use \(members)."
                #expect(body.isClosed && answer.status == 400, "\(key)")
                expectContains(answer.text, advice)
            }
        }
    }

    @Test("each route that ends answers as is described, with every member")
    func answers() async throws {
        let description = try Description.read()
        try await ControlWorld.with { world in
            // A file that is too large is not accepted, without a parser; a paused download is not waited for.
            let list = world.folder.appending("lists.d/a.plist").string
            try #require(creat(list, 0o644) >= 0 && truncate(list, 1 << 32) == 0)
            _ = try await world.client.pause()
            try await waitUntil { try await world.client.status()?.lists.isEmpty == false }
            let url = "{\"url\": \"https://h.example/a.png\"}"
            let bodies = [
                "pin": url, "unpin": url, "mute": url, "unmute": url, "whyLong": url, "evictionLong": url,
                "repair": "{\"images\": []}",
            ]
            // Nothing here ends a purge.
            let endless: Set = ["streamStatus", "dashboard", "purge"]
            // Others ask for the icon that is pinned.
            let order = ["pin": 0, "unpin": 2]
            for (key, operation) in description.operations.sorted(by: {
                (order[$0.value.operationId] ?? 1, $0.key) < (order[$1.value.operationId] ?? 1, $1.key)
            }) where !endless.contains(operation.operationId) {
                let (method, path) = Self.parts(key)
                let query = operation.operationId == "why" ? "?url=https%3A%2F%2Fh.example%2Fa.png" : ""
                let answer = try await Self.ask(
                    method, path + query, bodies[operation.operationId], at: world.socket)
                #expect(answer.status == 200, "\(key): \(answer)")
                guard
                    let (type, content) = operation.responses["200"]?.content?.first(where: {
                        $0.key != "text/event-stream"
                    }),
                    content.schema.reference != nil
                else { continue }
                let documents = type == "application/json" ? [answer.text[...]] : answer.text.split(separator: "\n")
                #expect(!documents.isEmpty)
                for document in documents {
                    let faults = try description.faults(of: JSON(reading: document), in: content.schema, at: key)
                    #expect(faults == [])
                }
            }
        }
    }

    private static func parts(_ key: String) -> (method: HTTPMethod, path: String) {
        let parts = key.split(separator: " ").map(String.init)
        return (HTTPMethod(rawValue: parts[0]), parts[1].replacing("{name}", with: "a.plist"))
    }
}
