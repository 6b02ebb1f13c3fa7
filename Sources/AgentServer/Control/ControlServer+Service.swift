// SPDX-License-Identifier: Apache-2.0
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import SyncAgent
import SystemPackage

extension ControlServer {
    /// A server at the socket.
    ///
    /// Hummingbird's `Application` would wake up every second to have the date at hand, which no client of this one asks for.
    func service(
        _ router: Router<APIContext>, socket: BoundSocket, logger: Logger
    ) throws -> any Service {
        let responder = router.buildResponder()
        // Requests that do not come to their end hold a descriptor each.
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [SlowReaderHandler()], idleTimeout: .seconds(10)))
        return try server.buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: path.string),
                availableConnectionsDelegate: MaximumAvailableConnections(clients)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
        ) { [access, api] request, writer, channel in
            let context = APIContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger),
                caller: access.caller(await PeerCredentials.peer(of: channel, for: access)))
            let response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch let error as HTTPParserError {
                throw error
            } catch {
                response = Response(status: .internalServerError)
            }
            api.agent.counts.noteControlRequest(method: request.method.rawValue, status: response.status.code)
            try await writer.write(response: response.head, body: response.body)
            // The rest of the request is not waited for.
            if response.status == .requestTimeout { try? await channel.close() }
        } onServerRunning: { [path, access, api] _ in
            // Until here only the owner could connect: the agent's umask takes the right to write from all others.
            access.open(path)
            socket.noteBound()
            api.agent.noteListening()
        }
    }
}

extension ControlServer {
    /// Sets how many threads wait for sockets: to be called before any server or client is made.
    ///
    /// Each takes three descriptors.
    package static func limitThreads(to count: Int) {
        NIOSingletons.groupLoopCountSuggestion = count
    }
}
