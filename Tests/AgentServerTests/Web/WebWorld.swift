// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Glibc
import Hummingbird
import LocalHTTP
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport

@testable import AgentServer
@testable import SyncAgent

/// The servers for browsers in front of an agent's loop, and a client that says what it wants to.
struct WebWorld {
    struct Answer {
        var status: UInt
        var fields: [String: String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let control: ControlWorld
    let agent: RunningAgent
    let reader: ImageReader

    var cache: FilePath { control.folder.appending("cache") }

    /// Runs the body while the loop runs.
    static func with(_ body: @escaping @Sendable (WebWorld) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let control = try ControlWorld(in: folder)
            let agent = control.agent
            let reader = ImageReader(cache: folder.appending("cache"))
            try await control.whileLooping {
                // Its first publication removes what it does not know.
                try await waitUntil { await agent.status()?.inSync == true }
                try await body(WebWorld(control: control, agent: agent, reader: reader))
            }
        }
    }

    func site(tokens: DashboardTokens = DashboardTokens(), anonymous: Access = .read) -> DashboardSite {
        DashboardSite(
            images: ImageSite(reader: reader, agent: agent, audience: .sameOrigin), tokens: tokens,
            anonymous: anonymous
        ) { request, access, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "\(request.uri.path) \(access)")))
        }
    }

    /// Runs the body while images are served to everybody.
    func servingImages(
        placeholder: FilePath? = nil, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let site = ImageSite(reader: reader, agent: agent, audience: .everybody, placeholder: placeholder)
        try await serving({ request, _ in await site.respond(to: request) }, body)
    }

    /// Runs the body while the dashboard is served.
    func serving(_ site: DashboardSite, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await serving({ try await site.respond(to: $0, on: $1) }, body)
    }

    func serving(
        _ respond: @escaping HTTPServer.Responder, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let server = HTTPServer(address: .tcp(.anyLoopbackPort), clients: 16, logger: .silent, respond: respond)
        try await server.whileRunning(body)
    }

    static func ask(
        _ port: Int, _ method: HTTPMethod, _ target: String, _ fields: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        try await LocalConnection.open(to: .port(port)) { connection in
            let head = try await connection.ask(method, target, fields: fields, body: body)
            let fields = head.headers.map { ($0.name.lowercased(), $0.value) }.filter { $0.0 != "date" }
            // The client does not know that an answer to HEAD has no body.
            let body = method == .HEAD ? [] : try await connection.rest(upTo: 8 << 20)
            return Answer(status: head.status.code, fields: Dictionary(fields) { $0 + ", " + $1 }, body: body)
        }
    }

    static func ask(_ port: Int, _ target: String, _ fields: [(String, String)] = []) async throws -> Answer {
        try await ask(port, .GET, target, fields)
    }

    /// Puts an image into the cache as it is after a publication.
    ///
    /// - Returns: Its path in the cache.
    @discardableResult
    func publish(_ bytes: [UInt8], suffix: String, as url: IconURL) throws -> String {
        let image = CacheLayout.image(.of(bytes), suffix: suffix)
        for name in [image, CacheLayout.byURL(url)] {
            let folder = cache.pushing(FilePath(name)).removingLastComponent()
            if mkdir(folder.string, 0o755) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
        }
        let path = cache.pushing(FilePath(image))
        if access(path.string, F_OK) != 0 { try write(bytes, to: path, mode: [.ownerRead]) }
        let name = cache.pushing(FilePath(CacheLayout.byURL(url))).string
        unlink(name)
        guard link(path.string, name) == 0 else { throw Errno(rawValue: errno) }
        return image
    }
}
