// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The open dashboards: the one at `dashboard.listen`, and those opened by `syncagent dashboard`.
final class Dashboards: Sendable {
    /// The limit on dashboards opened by commands.
    static let most = 2

    struct TooMany: Error, CustomStringConvertible {
        var description: String {
            "\(Dashboards.most) dashboards are open already. Close one, or set dashboard.listen: any number share that one."
        }
    }

    let tokens = DashboardTokens()
    private let clients: Int
    private let logger: Logger
    private let makeSite: @Sendable (DashboardTokens) -> DashboardSite
    private let state = Mutex<(lasting: ListenAddress?, opened: Int)>((nil, 0))

    init(clients: Int, logger: Logger, _ makeSite: @escaping @Sendable (DashboardTokens) -> DashboardSite) {
        (self.clients, self.logger, self.makeSite) = (clients, logger, makeSite)
    }

    /// Sets the address of the dashboard at `dashboard.listen`; `nil` if it is not listening.
    func setLasting(_ address: ListenAddress?) { state.withLock { $0.lasting = address } }

    func server(at address: ListenAddress, _ tokens: DashboardTokens) -> HTTPServer {
        let site = makeSite(tokens)
        return HTTPServer(address: .tcp(address), clients: clients, logger: logger) {
            try await site.respond(to: $0, on: $1)
        }
    }

    /// Opens a dashboard for a client until the task is cancelled; shares the one at `dashboard.listen`, if any.
    ///
    /// Writes the dashboard's address, which gives `access`, as one line of JSON.
    ///
    /// - Throws: ``TooMany``, ``HTTPServer/Unavailable``, or an error of the writer.
    @concurrent func open(_ access: Access, to writer: inout any ResponseBodyWriter) async throws {
        if let lasting = state.withLock(\.lasting) {
            let token = tokens.add(access)
            defer { tokens.remove(token) }
            try await Self.write(lasting, token, to: &writer)
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            withExtendedLifetime(end) {}
            return
        }
        let isOpen = state.withLock { state in
            guard state.opened < Self.most else { return false }
            state.opened += 1
            return true
        }
        guard isOpen else { throw TooMany() }
        defer { state.withLock { $0.opened -= 1 } }
        let tokens = DashboardTokens()
        let token = tokens.add(access)
        let server = server(at: .anyLoopbackPort, tokens)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let serving = Task {
            defer { port.finish() }
            try await server.run { port.yield($0) }
        }
        defer { serving.cancel() }
        for await port in ports {
            try await Self.write(ListenAddress.anyLoopbackPort.with(port: port), token, to: &writer)
        }
        serving.cancel()
        try await serving.value
    }

    @concurrent private static func write(
        _ address: ListenAddress, _ token: String, to writer: inout any ResponseBodyWriter
    ) async throws {
        // A URL's fragment stays in the browser: the token gets into no log and no Referer field.
        let json: JSON = ["url": .string("http://\(address)/#token=\(token)")]
        try await writer.write(ByteBuffer(string: json.line + "\n"))
    }
}
