// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Hummingbird
import LocalHTTP
import Logging
import NIOCore
import Synchronization

/// The web server of the demo, on 127.0.0.1: at `/icons/NAME.png` is the icon drawn from its name, for any name.
package final class DemoOrigin: Sendable {
    private let port: Int
    private let icons: DrawnIcons
    private let serving: Task<Void, Never>

    private init(port: Int, icons: DrawnIcons, serving: Task<Void, Never>) {
        (self.port, self.icons, self.serving) = (port, icons, serving)
    }

    /// Serves while `body` runs, at a port that the system chooses.
    ///
    /// - Throws: The error of `body`, or of listening.
    package static func run(_ body: (DemoOrigin) async throws -> Void) async throws {
        let icons = DrawnIcons()
        let logger = Logger(label: "origin") { _ in SwiftLogNoOpLogHandler() }
        let (ports, listening) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: icons, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { listening.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let serving = Task {
            do {
                try await LocalServer.run(application, patience: .milliseconds(100), logger: logger)
                listening.finish()
            } catch {
                listening.finish(throwing: error)
            }
        }
        defer { serving.cancel() }
        for try await port in ports {
            return try await body(DemoOrigin(port: port, icons: icons, serving: serving))
        }
        throw CancellationError()
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The URL of the icon drawn from a name.
    package func iconURL(_ name: String) -> String { baseURL + IconPath.path(for: name) }

    /// The number of requests received.
    package var requestCount: Int { icons.requests.withLock(\.self) }

    /// Stops listening, and closes every connection; when this returns, connections are refused.
    package func cutOff() async {
        serving.cancel()
        await serving.value
    }
}

/// Responds with drawn icons, and counts the requests.
private final class DrawnIcons: HTTPResponder {
    let requests = Mutex(0)

    func respond(to request: Request, context: BasicRequestContext) async -> Response {
        requests.withLock { $0 += 1 }
        guard let name = IconPath.name(in: request.uri.path) else { return Response(status: .notFound) }
        let icon = IconDrawing(name)
        return Response(
            status: .ok, headers: [.contentType: "image/png", .eTag: icon.entityTag],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: icon.png())))
    }
}
