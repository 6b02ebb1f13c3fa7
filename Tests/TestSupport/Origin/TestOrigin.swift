// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Hummingbird
import LocalHTTP

/// An HTTP server on 127.0.0.1 that draws icons on request.
///
/// `/icons/NAME.png` is drawn from its name, for any name. `?side=128` sets its side in pixels, `?bytes=12288` pads the
/// file to that size. Tests can set another response for a path, and hold responses back.
package final class TestOrigin: Sendable {
    package let port: Int

    private let book: ReplyBook
    private let end: Gate
    private let ended: Gate

    private init(port: Int, book: ReplyBook, end: Gate, ended: Gate) {
        self.port = port
        self.book = book
        self.end = end
        self.ended = ended
    }

    /// Runs an origin while `body` runs; it has stopped when this returns or throws.
    ///
    /// - Parameters:
    ///   - port: The port to listen on. The default is 0: the system chooses one. With the port of an origin that was
    ///     cut off, its URLs work again.
    ///   - body: Receives the listening origin.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or of listening on the port.
    @discardableResult
    package static func run<R>(port: Int = 0, _ body: (TestOrigin) async throws -> R) async throws -> R {
        let book = ReplyBook()
        let end = Gate()
        let ended = Gate()
        let (ports, listening) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = originApplication(port: port, book: book) { listening.yield($0) }

        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                await withTaskGroup(of: Void.self) { server in
                    server.addTask {
                        do {
                            try await LocalServer.run(application, patience: .milliseconds(100), logger: originLogger)
                            listening.finish()
                        } catch {
                            listening.finish(throwing: error)
                        }
                    }
                    server.addTask { try? await end.wait() }
                    await server.next()
                    server.cancelAll()
                }
                ended.open()
            }
            for try await port in ports {
                return try await body(TestOrigin(port: port, book: book, end: end, ended: ended))
            }
            throw CancellationError()
        }
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The URL of the icon drawn from a name.
    ///
    /// - Parameters:
    ///   - name: Any text.
    ///   - side: Width and height in pixels, one of ``IconDrawing/sides``. The default is 64.
    ///   - bytes: The size to pad the file to, one of ``IconDrawing/sizes``. The default is no padding.
    /// - Returns: The URL, with a query for values other than the defaults.
    package func iconURL(_ name: String, side: Int? = nil, bytes: Int? = nil) -> String {
        let parameters = [side.map { "side=\($0)" }, bytes.map { "bytes=\($0)" }].compactMap(\.self)
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        return baseURL + Self.iconPath(name) + query
    }

    /// The path of the icon drawn from a name: `/icons/NAME.png`, percent-encoded.
    package static func iconPath(_ name: String) -> String {
        IconPath.path(for: name)
    }

    /// Stops listening, and closes every connection, even in the middle of a response.
    ///
    /// When this returns, connections are refused. The counts stay.
    package func cutOff() async {
        end.open()
        try? await ended.wait()
    }
}

extension TestOrigin {
    /// The number of requests received.
    package var requestCount: Int { book.tally.total }

    /// The number of requests received for a path, with any query.
    package func requestCount(for path: String) -> Int { book.tally.count(of: path) }

    /// Waits for at least `count` requests for the path; with `nil`, for any path.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    package func received(_ count: Int = 1, for path: String? = nil) async throws {
        try await book.tally.reach(count, of: path)
    }

    /// Responds to every later request for a path with the result of a script.
    ///
    /// The path is as sent: percent-encoded, without the query.
    package func respond(to path: String, with script: @escaping @Sendable (OriginRequest) async -> OriginReply) {
        book.write(script, for: path)
    }

    package func respond(to path: String, with reply: OriginReply) {
        book.write({ _ in reply }, for: path)
    }

    /// Holds back every response for a path, from its first byte, until ``release(_:)``.
    ///
    /// Requests are counted when they are received.
    package func hold(_ path: String) {
        book.hold(path)
    }

    /// Sends the held responses for a path, and stops holding them back.
    package func release(_ path: String) {
        book.release(path)
    }
}
