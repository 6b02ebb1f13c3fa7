// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Logging
import NIOCore
import SyncAgent
import SyncPlan
import SystemPackage

/// What listens on TCP: the dashboard and the images, where the settings say so.
struct WebListeners: Sendable {
    /// The longest time between attempts to listen at an address that is taken.
    private static let longestDelay: Duration = .seconds(60)

    let dashboards: Dashboards
    private let dashboard: ListenAddress?
    private let images: (address: ListenAddress, server: WebServer)?
    private let agent: RunningAgent
    private let logger: Logger

    /// Makes ready to listen.
    ///
    /// - Parameters:
    ///   - settings: Where to listen, and who may read.
    ///   - cache: The cache folder.
    ///   - clients: The most clients at each address.
    ///   - logger: Where troubles of the servers go.
    ///   - agent: What is asked, and told.
    ///   - api: Answers requests to the API.
    init(
        settings: Settings, cache: FilePath, clients: Int, logger: Logger, agent: RunningAgent,
        api: @escaping DashboardSite.API
    ) {
        self.agent = agent
        self.logger = logger
        let reader = ImageReader(cache: cache)
        let anonymous: Access = settings.control.readers == .everyone ? .read : .none
        dashboards = Dashboards(clients: clients, logger: logger) { tokens in
            DashboardSite(
                images: ImageSite(reader: reader, agent: agent, audience: .sameOrigin), tokens: tokens,
                anonymous: anonymous, api: api)
        }
        dashboard = settings.dashboard.listen
        images = settings.serve.listen.map { address in
            let site = ImageSite(reader: reader, agent: agent, audience: .everybody)
            return (
                address,
                WebServer(address: address, clients: clients, logger: logger) { request, _ in
                    await site.respond(to: request)
                }
            )
        }
    }

    /// Answers until the task is cancelled.
    ///
    /// An address that cannot be listened at takes nothing from the agent: the log and the status say so, and it is
    /// tried again after a second, and then less and less often.
    func run() async {
        await withDiscardingTaskGroup { group in
            if let dashboard {
                let server = dashboards.server(at: dashboard, dashboards.tokens)
                group.addTask {
                    await keep(server, "dashboard") { dashboards.setLasting($0) }
                }
            }
            if let images { group.addTask { await keep(images.server, "images") { _ in } } }
        }
    }

    private func keep(
        _ server: WebServer, _ name: String, _ changed: @escaping @Sendable (ListenAddress?) -> Void
    ) async {
        var delay: Duration = .seconds(1)
        var last: WebServer.Unavailable?
        while !Task.isCancelled {
            do {
                try await server.run { [agent, logger] port in
                    let address = server.address.with(port: port)
                    changed(address)
                    agent.listeners.set(name, at: address, error: nil)
                    logger.info("listening", metadata: ["for": "\(name)", "address": "\(address)"])
                }
                return
            } catch let error as WebServer.Unavailable {
                agent.listeners.set(name, at: server.address, error: "\(error)")
                if error != last { logger.error("cannot listen", metadata: ["for": "\(name)", "error": "\(error)"]) }
                last = error
            } catch {
                agent.listeners.set(name, at: server.address, error: "\(error)")
                logger.error("listener ended", metadata: ["for": "\(name)", "error": "\(error)"])
            }
            changed(nil)
            try? await Task.sleep(for: delay)
            delay = min(delay * 2, Self.longestDelay)
        }
    }
}
