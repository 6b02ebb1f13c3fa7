// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import CacheFormat
import Hummingbird
package import Logging
import NIOCore
import SyncAgent
import SyncPlan
package import SystemPackage

/// The listeners on TCP: the dashboard, the images and the metrics, if the settings name addresses for them.
package struct WebListeners: Sendable {
    /// The longest time between attempts to listen at an address that is taken.
    private static let longestDelay: Duration = .seconds(60)

    let dashboards: Dashboards
    private let dashboard: ListenAddress?
    private let others: [(name: String, address: ListenAddress, server: HTTPServer)]
    private let agent: RunningAgent
    private let logger: Logger

    /// At how many addresses the agent may listen at once.
    package static func addresses(_ settings: Settings) -> Int {
        // Commands share the dashboard that the settings name.
        let dashboards = settings.dashboard.listen == nil ? Dashboards.most : 1
        return dashboards + [settings.serve.listen, settings.metrics.listen].count { $0 != nil }
    }

    /// Makes ready to listen.
    ///
    /// - Parameters:
    ///   - settings: Where to listen, and who may read.
    ///   - cache: The cache folder.
    ///   - clients: The most clients at each address.
    ///   - logger: Where troubles of the servers go.
    ///   - api: What can be asked.
    ///   - access: Who may ask for it at the control socket: others need a token.
    package init(settings: Settings, cache: FilePath, clients: Int, logger: Logger, api: API, access: SocketAccess) {
        let responder = api.router().buildResponder()
        let advice = "Open the page with syncagent dashboard."
        self.init(
            settings: settings, cache: cache, clients: clients, logger: logger, agent: api.agent,
            anonymous: access.isOpenToAll ? .read : .none
        ) { request, access, channel in
            let context = APIContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger),
                caller: Caller(access: access, howToRead: advice, howToChange: advice))
            return try await responder.respond(to: request, context: context)
        }
    }

    init(
        settings: Settings, cache: FilePath, clients: Int, logger: Logger, agent: RunningAgent, anonymous: Access,
        api: @escaping DashboardSite.Answer
    ) {
        self.agent = agent
        self.logger = logger
        let reader = ImageReader(cache: cache)
        dashboards = Dashboards(clients: clients, logger: logger) { tokens in
            DashboardSite(
                images: ImageSite(reader: reader, agent: agent, audience: .sameOrigin), tokens: tokens,
                anonymous: anonymous, api: api)
        }
        dashboard = settings.dashboard.listen
        let images = ImageSite(reader: reader, agent: agent, audience: .everybody)
        let metrics = MetricsSite(agent: agent)
        let sites: [(String, ListenAddress?, HTTPServer.Responder)] = [
            (
                "images", settings.serve.listen,
                { [isLoopback = settings.serve.listen?.isLoopback == true] request, channel in
                    // Who listens at another address serves everybody, by any name.
                    guard !isLoopback || OwnHost.names(request.head.authority, port: channel.localAddress?.port)
                    else {
                        let refusal = Response.refusal(.wrongHost)
                        return request.method == .head ? refusal.withoutBody : refusal
                    }
                    return await images.respond(to: request)
                }
            ),
            ("metrics", settings.metrics.listen, { await metrics.respond(to: $0, on: $1) }),
        ]
        others = sites.compactMap { name, address, respond in
            address.map {
                (
                    name: name, address: $0,
                    server: HTTPServer(address: .tcp($0), clients: clients, logger: logger, respond: respond)
                )
            }
        }
    }

    /// Answers until the task is cancelled.
    ///
    /// If an address cannot be used, the agent goes on without it. The log and the status say why, and it is tried again
    /// after a second, then less and less often.
    func run() async {
        await withDiscardingTaskGroup { group in
            if let dashboard {
                let server = dashboards.server(at: dashboard, dashboards.tokens)
                group.addTask {
                    await keep("dashboard", server, at: dashboard) { dashboards.setLasting($0) }
                }
            }
            for (name, address, server) in others {
                group.addTask { await keep(name, server, at: address) { _ in } }
            }
        }
    }

    private func keep(
        _ name: String, _ server: HTTPServer, at configured: ListenAddress,
        _ changed: @escaping @Sendable (ListenAddress?) -> Void
    ) async {
        var delay: Duration = .seconds(1)
        var last: HTTPServer.Unavailable?
        while !Task.isCancelled {
            do {
                try await server.run { [agent, logger] port in
                    let address = configured.with(port: port)
                    changed(address)
                    agent.listeners.set(name, at: address, error: nil)
                    logger.info("listening", metadata: ["for": "\(name)", "address": "\(address)"])
                }
                return
            } catch let error as HTTPServer.Unavailable {
                if Task.isCancelled { return }
                agent.listeners.set(name, at: configured, error: "\(error)")
                if error != last { logger.error("cannot listen", metadata: ["for": "\(name)", "error": "\(error)"]) }
                last = error
                // Only a restart changes that.
                if error.errno == .tooManyOpenFiles { return }
            } catch {
                agent.listeners.set(name, at: configured, error: "\(error)")
                logger.error("listener ended", metadata: ["for": "\(name)", "error": "\(error)"])
            }
            changed(nil)
            try? await Task.sleep(for: delay)
            delay = min(delay * 2, Self.longestDelay)
        }
    }
}

extension WebListeners {
    /// The request that opens the dashboard for as long as its connection is open: that of the control socket.
    package var route: APIRoute {
        .change("dashboard") { [dashboards] request, _ in
            let access: Access
            switch try request.query(["access"])["access"] {
            case nil, "change": access = .change
            case "read": access = .read
            default: throw APIError.badRequest("The access is neither “read” nor “change”.")
            }
            return API.stream(to: request) { writer in
                do {
                    try await dashboards.open(access, to: &writer)
                } catch is CancellationError {
                    // The command has ended.
                } catch {
                    let json: JSON = ["error": .string("\(error)")]
                    try await writer.write(ByteBuffer(string: json.line + "\n"))
                }
            }
        }
    }
}
