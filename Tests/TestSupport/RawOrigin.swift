// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import NIOPosix

/// A TCP origin on loopback that sends exactly the bytes it is told to: for servers that misbehave.
///
/// With an identity it speaks TLS. A client that agrees on HTTP/2 first makes a request for `*`, which asks for the
/// settings, and the bytes to send are frames.
package final class RawOrigin: Sendable {
    /// One request head that came in.
    package struct Request: Sendable {
        /// The head as it was sent, with the empty line at its end; in HTTP/2 a line for each field.
        package var head: String

        /// What stands between the first two spaces of the request line: the path, with the query.
        package var target: String

        /// The HTTP/2 stream that it came in on; 0 if there is none.
        package var stream: Int

        /// Which of the accepted connections it came in on, counted from 1.
        package var connection: Int

        /// Which request of this target it is, counted from 1.
        package var number: Int
    }

    /// One thing to do on the connection that a request came in on.
    ///
    /// After the last one the next request on the connection is read, if it is still open.
    package enum Step: Sendable, CustomStringConvertible {
        /// Sends the bytes, and goes on when the kernel has all of them.
        case send([UInt8])
        /// Sends the bytes one by one, with a pause before each.
        case sendSlowly([UInt8], pause: Duration)
        /// Goes on when the gate is open.
        case wait(Gate)
        /// Opens the gate, to tell that everything before has been sent.
        case open(Gate)
        /// Ends the connection in order (FIN).
        case close
        /// Breaks the connection off (RST).
        case reset

        /// Sends the text's UTF-8 bytes.
        package static func send(_ text: String) -> Step { .send(Array(text.utf8)) }

        package var description: String {
            switch self {
            case .send(let bytes): "send \(bytes.count) bytes"
            case .sendSlowly(let bytes, let pause): "send \(bytes.count) bytes, one each \(pause)"
            case .wait: "wait"
            case .open: "tell"
            case .close: "close"
            case .reset: "reset"
            }
        }
    }

    /// The address that the origin listens on.
    package let host: String

    /// The port that the origin listens on.
    package let port: Int

    /// Every connection that was accepted, under the key `tcp`.
    package let connections = Tally()

    /// Every connection that is over, whoever ended it, under the key `tcp`.
    package let closedConnections = Tally()

    /// Every request head that was read, under its target.
    package let requests = Tally()

    private let scheme: String

    private init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// `http://127.0.0.1:PORT`, without a slash at its end.
    package var baseURL: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Runs an origin for as long as `body` runs: when this returns or throws, every connection is closed.
    ///
    /// - Parameters:
    ///   - host: the address to listen on, one of loopback's.
    ///   - port: the port to listen on, or 0 for any that is free.
    ///   - identity: what to show to clients, which have to speak TLS then.
    ///   - protocols: the protocols that may be agreed on within TLS.
    ///   - script: what to do for a request. It is asked once for each request head, in the order they come in on
    ///     their connection. Bodies of requests are not understood.
    ///   - body: gets the origin, already listening.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, or the error of a socket that cannot be listened on.
    @discardableResult
    package static func run<R>(
        host: String = "127.0.0.1", port: Int = 0, identity: TLSIdentity? = nil, protocols: [String] = ["h2"],
        _ script: @escaping @Sendable (Request) -> [Step], _ body: (RawOrigin) async throws -> R
    ) async throws -> R {
        let tls = try identity?.context(protocols: protocols)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(TLSServerHandler(tls)) }
                    return try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = listener.channel.localAddress?.port else { preconditionFailure("a listener has a port") }
        let origin = RawOrigin(scheme: tls == nil ? "http" : "https", host: host, port: port)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await origin.serve(listener, script) }
            return try await body(origin)
        }
    }

    private func serve(
        _ listener: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, Never>, Never>,
        _ script: @escaping @Sendable (Request) -> [Step]
    ) async throws {
        try await listener.executeThenClose { accepted in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in accepted {
                    let number = connections.add("tcp")
                    group.addTask {
                        // A connection that breaks is what many scripts are about: it ends itself, nothing else.
                        try? await self.serve(connection, number: number, script)
                        self.closedConnections.add("tcp")
                    }
                }
            }
        }
    }

    private func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, Never>, number: Int, _ script: (Request) -> [Step]
    ) async throws {
        let channel = connection.channel
        try await withTaskCancellationHandler {
            try await connection.executeThenClose { inbound in
                var reader = RequestReader()
                for try await bytes in inbound {
                    reader.append(bytes)
                    while channel.isActive, let head = try reader.next() {
                        let request = Request(
                            head: head.text, target: head.target, stream: head.stream, connection: number,
                            number: requests.add(head.target))
                        for step in script(request) { try await self.perform(step, on: channel) }
                    }
                }
            }
        } onCancel: {
            channel.close(promise: nil)  // a write that the client does not read would wait for ever
        }
    }

    private func perform(_ step: Step, on channel: any Channel) async throws {
        switch step {
        case .send(let bytes):
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        case .sendSlowly(let bytes, let pause):
            for byte in bytes {
                // That nothing comes for so long is what the client sees.
                try await Task.sleep(for: pause)
                try await channel.writeAndFlush(ByteBuffer(bytes: [byte]))
            }
        case .wait(let gate):
            try await gate.wait()
        case .open(let gate):
            gate.open()
        case .close:
            try await channel.close()
        case .reset:
            try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            try await channel.eventLoop.submit {
                // TLS would say its farewell first.
                let pipeline = channel.pipeline.syncOperations
                let tls = try? pipeline.context(handlerType: TLSServerHandler.self)
                tls?.close(promise: nil) ?? channel.close(promise: nil)
            }.get()
        }
    }
}
