// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// The server, without signal handlers and without logs.
func originApplication(
    port: Int, book: ReplyBook, onListening: @escaping @Sendable (Int) -> Void
) -> some ApplicationProtocol {
    let responder = CallbackResponder<Connection> { request, connection in
        let reply: OriginReply
        do {
            reply = try await cancelWhenGracefulShutdown {
                try await book.reply(
                    method: request.method.rawValue,
                    target: request.head.path ?? "/",
                    headers: request.headers.reduce(into: [:]) { headers, field in
                        let name = field.name.canonicalName
                        headers[name] = headers[name].map { "\($0), \(field.value)" } ?? field.value
                    })
            }
        } catch {
            // The origin stops: the client gets a closed connection, not a response.
            try? await connection.channel.close()
            throw error
        }
        return Response(reply, to: request)
    }
    return Application(
        responder: responder,
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
        onServerRunning: { channel in
            if let port = channel.localAddress?.port { onListening(port) }
        },
        logger: originLogger)
}

let originLogger = Logger(label: "origin") { _ in SwiftLogNoOpLogHandler() }

private struct Connection: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }
}

extension Response {
    fileprivate init(_ reply: OriginReply, to request: Request) {
        var headers = HTTPFields()
        for (name, value) in reply.headers {
            guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is not a header name") }
            headers.append(HTTPField(name: name, value: value))
        }
        let response = Response(
            status: HTTPResponse.Status(code: reply.status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
        self = request.method == .head ? response.createHeadResponse() : response
    }
}
