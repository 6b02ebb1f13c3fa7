// SPDX-License-Identifier: Apache-2.0
import Glibc
import Hummingbird
import HummingbirdCore
import LocalHTTP
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import SyncPlan
import SystemPackage

/// Listens at an address for HTTP requests.
///
/// An idle one has no timers; a connection has one while it is open.
struct WebServer: Sendable {
    typealias Responder = @Sendable (Request, any Channel) async throws -> Response

    /// Why nobody can be answered at an address.
    struct Unavailable: Error, Equatable, CustomStringConvertible {
        var address: ListenAddress
        var errno: Errno

        var description: String {
            let remedy =
                switch errno {
                case .addressInUse: "Another program listens there. Stop it, or choose another port."
                case .permissionDenied: "Ports below 1024 take a privilege. Choose a higher one."
                case .tooManyOpenFiles:
                    "Raise LimitNOFILE= in the unit, or ulimit -n in the shell, and restart the agent."
                case .addressNotAvailable: "This machine does not have the address. Choose one of its own."
                default: "Choose another address."
                }
            return "Cannot listen at \(address): \(errno). \(remedy)"
        }
    }

    /// How long a connection stays open that nothing comes over, a head is not complete, or an answer is not taken.
    private static let idleTime: TimeAmount = .seconds(10)
    private static let answerTime: TimeAmount = .seconds(60)
    /// The longest request head, in bytes: a list may have URLs of that length.
    private static let longestHead = 40 << 10

    let address: ListenAddress
    /// The most clients at once: others wait until one is gone.
    let clients: Int
    let logger: Logger
    let respond: Responder

    /// Answers until the task is cancelled.
    ///
    /// - Parameter isListening: Called with the port, once requests are answered.
    /// - Throws: ``Unavailable``
    func run(_ isListening: @escaping @Sendable (Int) async -> Void) async throws {
        guard clients > 1 else { throw Unavailable(address: address, errno: .tooManyOpenFiles) }
        var quiet = logger
        quiet.logLevel = .warning
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Self.longestHead, maxHeaderListSize: Self.longestHead, maxHeaderFieldCount: 100)
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(idleTimeout: Self.idleTime, httpDecoderConfiguration: limits))
        let service = try server.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(clients)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet
        ) { [respond] request, writer, channel in
            let response: Response
            do {
                response = try await respond(request, channel)
            } catch let error as HTTPParserError {
                throw error
            } catch {
                response = .refusal(.internalServerError, "internal", "The request could not be answered.")
            }
            // Streams have no length, and no end: a client that takes nothing of one holds nothing but its connection.
            let limit = response.body.contentLength.map { _ in
                channel.eventLoop.scheduleTask(in: Self.answerTime) { channel.close(promise: nil) }
            }
            defer { limit?.cancel() }
            try await writer.write(response: response.head, body: response.body)
        } onServerRunning: { channel in
            await isListening(channel.localAddress?.port ?? 0)
        }
        do {
            try await LocalServer.run(service, patience: .milliseconds(500), logger: quiet)
        } catch let error as IOError {
            throw Unavailable(address: address, errno: Errno(rawValue: error.errnoCode))
        }
    }
}
