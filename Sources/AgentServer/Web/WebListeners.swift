// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import CacheFormat
import Hummingbird
package import Logging
import NIOCore
import SyncAgent
import SyncPlan
package import SystemPackage

/// The TCP listeners for the dashboard, images and metrics; each runs if the settings give its address.
package struct WebListeners: Sendable {
    /// The maximum delay between attempts to listen at an address in use.
    private static let longestDelay: Duration = .seconds(60)

    let dashboards: Dashboards
    private let dashboard: ListenAddress?
    private let others: [(name: String, address: ListenAddress, server: HTTPServer)]
    private let agent: RunningAgent
    private let reader: ImageReader
    private let placeholder: FilePath?
    private let logger: Logger

    /// The maximum number of addresses that the agent listens at.
    package static func addresses(_ settings: Settings) -> Int {
        // With `dashboard.listen`, commands share that dashboard.
        let dashboards = settings.dashboard.listen == nil ? Dashboards.most : 1
        return dashboards + [settings.serve.listen, settings.metrics.listen].count { $0 != nil }
    }

    /// Prepares the listeners; `access` determines whether reading needs a token.
    package init(settings: Settings, cache: FilePath, clients: Int, logger: Logger, api: API, access: SocketAccess) {
        let responder = api.router().buildResponder()
        self.init(
            settings: settings, cache: cache, clients: clients, logger: logger, agent: api.agent,
            anonymous: access.isOpenToAll ? .read : .none
        ) { request, access, channel in
            var context = APIContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            context.caller = Caller(access: access, advice: "Open the page with syncagent dashboard.")
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
        self.reader = reader
        placeholder = settings.serve.placeholder.map { FilePath($0) }
        dashboards = Dashboards(clients: clients, logger: logger) { tokens in
            DashboardSite(
                images: ImageSite(reader: reader, agent: agent, audience: .sameOrigin), tokens: tokens,
                anonymous: anonymous, api: api)
        }
        dashboard = settings.dashboard.listen
        let images = ImageSite(reader: reader, agent: agent, audience: .everybody, placeholder: placeholder)
        let lists = settings.serve.lists ? ListSite(reader: reader, origins: settings.serve.origins) : nil
        let metrics = MetricsSite(agent: agent)
        let sites: [(String, ListenAddress?, HTTPServer.Responder)] = [
            (
                Self.images, settings.serve.listen,
                { [isLoopback = settings.serve.listen?.isLoopback == true] request, channel in
                    // A listener at another address than loopback serves every client, by any host name.
                    guard !isLoopback || OwnHost.names(request.head.authority, port: channel.localAddress?.port)
                    else { return .refusal(.wrongHost) }
                    let site = ListSite.isList(request.uri.path) ? lists : nil
                    let response =
                        if let site { await site.respond(to: request) } else { await images.respond(to: request) }
                    if !agent.hasPrivateIcons {
                        do {
                            // Another cache may have come to the path, which the agent does not know yet.
                            if try await !reader.isPrivate() { return response }
                        } catch {
                            return ListSite.unreadable
                        }
                    }
                    let reason = "The cache may have icons from behind credentials."
                    return .refusal(.forbidden, "private-icons", reason)
                }
            ),
            ("metrics", settings.metrics.listen, { await metrics.respond(to: $0, on: $1) }),
        ]
        others = sites.compactMap { name, address, respond in
            address.map {
                (name, $0, HTTPServer(address: .tcp($0), clients: clients, logger: logger, respond: respond))
            }
        }
    }

    /// The name of the listener for images.
    private static let images = "images"

    /// Serves until the task is cancelled.
    ///
    /// If an address cannot be used, the agent runs without it. The log and the status say why. It retries after a
    /// second, then with doubled delays.
    func run() async {
        if let placeholder, (try? await reader.open(.placeholder(placeholder))) == nil {
            logger.warning(
                "serve.placeholder is no image of 5 MiB at most that can be read: missing images are 404",
                metadata: ["path": "\(placeholder)"])
        }
        await withDiscardingTaskGroup { group in
            if let dashboard {
                let server = dashboards.server(at: dashboard, dashboards.tokens)
                group.addTask {
                    await keep("dashboard", server, at: dashboard) { dashboards.setLasting($0) }
                }
            }
            group.addTask { await showPrivacy() }
            for (name, address, server) in others {
                group.addTask { await keep(name, server, at: address) { _ in } }
            }
        }
    }

    private static let privacy =
        "the cache may have icons from behind credentials, and everyone could read them: set public = true for the "
        + "credentials, purge the cache, or unset serve.listen"

    /// Says in the status and the log that no images are served while the cache may have private ones.
    private func showPrivacy() async {
        // What is not private before the loop answers is not known.
        guard others.contains(where: { $0.name == Self.images }), await agent.ask({ _ in true }) == true else { return }
        var isPrivate = false
        for await _ in agent.changes where agent.hasPrivateIcons != isPrivate {
            isPrivate.toggle()
            agent.listeners.set(Self.images, error: isPrivate ? Self.privacy : nil)
            if isPrivate {
                logger.error("cannot listen", metadata: ["for": "\(Self.images)", "error": "\(Self.privacy)"])
            }
        }
    }

    private func keep(
        _ name: String, _ server: HTTPServer, at configured: ListenAddress,
        _ changed: @escaping @Sendable (ListenAddress?) -> Void
    ) async {
        if name == Self.images, await agent.ask({ !$0.privateOrigins.isEmpty }) == true {
            agent.listeners.set(name, at: configured, error: Self.privacy)
            for await _ in agent.changes where !agent.hasPrivateIcons { break }
        }
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
                // The error is permanent until a restart.
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
    /// The control socket's route that opens the dashboard while its connection is open.
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
                    // The command has ended, so its dashboard closes.
                } catch {
                    let json: JSON = ["error": .string("\(error)")]
                    try await writer.write(ByteBuffer(string: json.line + "\n"))
                }
            }
        }
    }
}
