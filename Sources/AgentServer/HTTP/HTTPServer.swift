// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Glibc
import Hummingbird
import HummingbirdCore
import LocalHTTP
import Logging
import NIOCore
import NIOPosix
import SystemPackage

/// An HTTP server at one address: a Unix socket or a TCP port.
///
/// An idle server has no timers; a connection has one while it is open. Hummingbird's `Application` would wake up every
/// second to update the date.
struct HTTPServer: Sendable {
    /// Responds to a request, to HEAD as to GET; an error is a failure of the server itself.
    typealias Responder = @Sendable (Request, any Channel) async throws -> Response

    /// Names the seat that a connection takes; it completes synchronously on the event loop.
    typealias Identify = @Sendable (any Channel) -> EventLoopFuture<Seats.Seat>

    struct Patience: Sendable {
        /// The time limit for sending a request; 10 s by default.
        var request: TimeAmount = .seconds(10)
        /// The time limit for reading a part of a response that fills the connection's buffers; 30 s by default.
        var answer: TimeAmount = .seconds(30)
        /// The time limit for reading a refusal or the last response, and for sending the rest of a request that was
        /// answered early; 2 s by default.
        var rest: TimeAmount = .seconds(2)
    }

    enum Address: Equatable, Sendable, CustomStringConvertible {
        case socket(FilePath)
        case tcp(ListenAddress)

        var description: String {
            switch self {
            case .socket(let path): path.string
            case .tcp(let address): address.description
            }
        }

        fileprivate var bindAddress: BindAddress {
            switch self {
            case .socket(let path): .unixDomainSocket(path: path.string)
            case .tcp(let address): .hostname(address.host, port: address.port)
            }
        }
    }

    struct Unavailable: Error, Equatable, CustomStringConvertible {
        var address: Address
        var errno: Errno

        var description: String {
            let remedy =
                switch errno {
                case .addressInUse: "Another program listens there. Stop it, or choose another port."
                case .permissionDenied: "Ports below 1024 need a privilege. Choose a higher port."
                case .tooManyOpenFiles:
                    "Raise LimitNOFILE= in the unit, or ulimit -n in the shell, and restart the agent."
                case .addressNotAvailable: "This machine does not have this address. Choose one of its own addresses."
                default: "Choose another address."
                }
            return "Cannot listen at \(address): \(errno). \(remedy)"
        }
    }

    static let longestHead = (bytes: 80 << 10, fields: 100)

    /// The present time in the form of HTTP (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static var date: String {
        var (now, parts) = (time(nil), tm())
        gmtime_r(&now, &parts)
        return String(unsafeUninitializedCapacity: 64) { text in
            text.withMemoryRebound(to: CChar.self) {
                $0.baseAddress.map { strftime($0, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts) } ?? 0
            }
        }
    }

    /// The listen backlog while all connections are in use; the system refuses further ones.
    private static let queue = 1024

    let address: Address
    /// The limit on connections; others wait in the backlog.
    let clients: Int
    /// The limit on concurrent streams; further ones get a 503.
    ///
    /// The default is half of `clients`, so that other requests are still answered.
    var streams: Int?
    var patience = Patience()
    /// Identifies the client of a connection, if users share the seats; by default every client may take any seat.
    var identify: Identify = { $0.eventLoop.makeSucceededFuture(.any) }
    let logger: Logger
    let respond: Responder

    /// Serves requests until the task is cancelled.
    ///
    /// - Parameter isListening: Called with the port (0 for a socket) once requests are answered.
    /// - Throws: ``Unavailable``
    func run(_ isListening: @escaping @Sendable (Int) async -> Void) async throws {
        guard clients > 0 else { throw Unavailable(address: address, errno: .tooManyOpenFiles) }
        var quiet = logger
        quiet.logLevel = .warning
        let (seats, streams) = (Seats(clients), Allowance(streams ?? max(1, clients / 2)))
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Self.longestHead.bytes, maxHeaderListSize: Self.longestHead.bytes,
            maxHeaderFieldCount: Self.longestHead.fields)
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ClientHandler(seats, patience, identify)],
            idleTimeout: patience.request + patience.rest, httpDecoderConfiguration: limits)
        let server = try HTTPServerBuilder.http1(configuration: channel).buildServer(
            configuration: ServerConfiguration(
                address: address.bindAddress, backlog: Self.queue,
                availableConnectionsDelegate: MaximumAvailableConnections(clients)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet
        ) { [respond, logger] request, writer, channel in
            var response: Response
            do {
                response = try await respond(request, channel)
            } catch {
                // A client that leaves in the middle of its request is not a failure.
                let level: Logger.Level = error is IOError || error is ChannelError ? .debug : .error
                logger.log(
                    level: level, "request failed", metadata: ["path": "\(request.uri.path)", "reason": "\(error)"])
                response = APIError.failure.response
            }
            if request.method == .head {
                response = response.createHeadResponse()
            } else if response.body.contentLength == nil {
                response = (try? streams.count(response, as: 1)) ?? .refusal(.busy)
            }
            // Caches compute the age of a response from it.
            response.headers[.date] = Self.date
            try await writer.write(response: response.head, body: response.body)
        } onServerRunning: { channel in
            await isListening(channel.localAddress?.port ?? 0)
        }
        do {
            try await LocalServer.run(server, patience: .milliseconds(500), logger: quiet)
        } catch let error as IOError {
            throw Unavailable(address: address, errno: Errno(rawValue: error.errnoCode))
        }
    }
}
