// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Glibc
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer

@Suite("The description of the API", .timeLimit(.minutes(1)))
struct OpenAPITests {
    /// The names that a document refers to as schemas.
    private static func references(in json: JSON) -> Set<String> {
        switch json {
        case .object(let members):
            return members.reduce(into: []) { names, member in
                if member.key == "$ref", case .string(let text) = member.value {
                    names.insert(String(text.split(separator: "/").last ?? ""))
                }
                names.formUnion(references(in: member.value))
            }
        case .array(let values): return values.reduce(into: []) { $0.formUnion(references(in: $1)) }
        case .lines(let value): return references(in: value)
        case .null, .bool, .number, .string: return []
        }
    }

    @Test("it has every route that is served, and no other; each route changes something or does not by its method")
    func routes() async throws {
        try await ControlWorld.with { world in
            let web = WebListeners(
                settings: Settings(), cache: world.folder.appending("cache"), clients: 1, logger: .silent,
                api: world.api, access: SocketAccess(owner: geteuid(), isOpenToAll: true))
            let routes = world.api.adding([web.route]).routes
            #expect(Set(routes.map(OpenAPI.key)) == Set(OpenAPI.operations.keys))
            #expect(Set(routes.map(OpenAPI.key)).count == routes.count)
            #expect(Set(OpenAPI.operations.values.map(\.id)).count == routes.count)
            // What changes something is never a GET, which a link or a picture could send.
            #expect(routes.allSatisfy { $0.access == .read || $0.method == .post })
        }
    }

    @Test("every schema that is named is there, and every one that is there is named")
    func schemas() async throws {
        try await ControlWorld.with { world in
            let document = OpenAPI.document(of: world.api.routes)
            #expect(Self.references(in: document) == Set(OpenAPI.schemas.map(\.name)))
        }
    }
}
