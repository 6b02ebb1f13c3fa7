// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// A refusal: a status, a stable code and a sentence.
package struct APIError: Error, Equatable, Sendable {
    package var status: HTTPResponse.Status
    package var code: String
    package var message: String
    package var headers = HTTPFields()

    /// The codes of the control API, as `openapi.json` and the article ControlAPI name them.
    enum Code: String, CaseIterable {
        case badRequest = "bad-request"
        case badURL = "bad-url"
        case forbidden
        case unknownToken = "unknown-token"
        case foreignOrigin = "foreign-origin"
        case noSuchPath = "no-such-path"
        case noSuchList = "no-such-list"
        case noSuchIcon = "no-such-icon"
        case methodNotAllowed = "method-not-allowed"
        case tooSlow = "too-slow"
        case tooLarge = "too-large"
        case wrongHost = "wrong-host"
        case headTooLarge = "head-too-large"
        /// The HTTP library refused the request.
        case refused
        case `internal`
        case stopping, busy
        case notResponding = "not-responding"
    }

    init(_ status: HTTPResponse.Status, _ code: Code, _ message: String) {
        self.init(status, other: code.rawValue, message)
    }

    /// A refusal by another server than the control API, such as the one for images.
    init(_ status: HTTPResponse.Status, other code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    static func badRequest(_ message: String) -> APIError { APIError(.badRequest, .badRequest, message) }

    static let tooSlow = APIError(.requestTimeout, .tooSlow, "The request took longer than 10 seconds to arrive.")

    static let wrongHost = APIError(
        .misdirectedRequest, .wrongHost,
        "The Host field does not name this listener. Use the loopback address and the port that it listens at.")

    static let failure = APIError(.internalServerError, .internal, "The agent could not answer: see its log.")

    static let busy: APIError = {
        var error = APIError(.serviceUnavailable, .busy, "The agent has too many clients at present. Try again.")
        error.headers[.retryAfter] = "1"
        return error
    }()

    static let stopping = APIError(.serviceUnavailable, .stopping, "The agent is stopping.")

    static let notResponding = APIError(
        .serviceUnavailable, .notResponding, "The agent is running, but not responding. Restart it; report its log.")

    static let noSuchList = APIError(
        .notFound, .noSuchList, "There is no list of this name. GET /v1/lists shows all lists.")

    /// A request that is not HTTP, or has too long a head.
    init(_ error: HTTPParserError) {
        self =
            if error == .headerOverflow {
                APIError(
                    .requestHeaderFieldsTooLarge, .headTooLarge,
                    "The head of the request is longer than \(HTTPServer.longestHead.bytes) bytes, or has more than "
                        + "\(HTTPServer.longestHead.fields) fields.")
            } else {
                .badRequest("The request is not HTTP/1.1.")
            }
    }

    static func notFound(_ code: Code, _ message: String) -> APIError { APIError(.notFound, code, message) }

    static func tooLarge(_ what: String, limit: Int) -> APIError {
        APIError(.contentTooLarge, .tooLarge, "\(what) is longer than \(limit) bytes.")
    }

    static func forbidden(_ access: Access, _ caller: Caller) -> APIError {
        let verb = access == .read || caller.access == .none ? "read" : "change"
        return APIError(.forbidden, .forbidden, "You may not \(verb) this agent's state. \(caller.advice)")
    }

    static func wrongMethod(_ method: String, allowed: [String]) -> APIError {
        let allowed = allowed.joined(separator: ", ")
        var error = APIError(
            .methodNotAllowed, .methodNotAllowed,
            "This path does not accept \(method.prefix(bytes: 32)): use \(allowed).")
        error.headers[.allow] = allowed
        return error
    }

    package var response: Response {
        Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: document)))
    }

    /// The head of the refusal as the last response of a connection.
    var lastHead: HTTPResponse {
        var head = HTTPResponse(status: status, headerFields: fields)
        head.headerFields[.contentLength] = "\(document.utf8.count)"
        head.headerFields[.connection] = "close"
        return head
    }

    var document: String {
        let json: JSON = ["error": ["code": .string(code), "message": .string(message)]]
        return json.text + "\n"
    }

    private var fields: HTTPFields {
        var fields = headers
        fields[.contentType] = "application/json"
        return fields
    }
}

/// Middleware that turns errors into JSON documents.
struct ErrorDocuments: RouterMiddleware {
    let routes: [APIRoute]
    let memory: Allowance
    let logger: Logger

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await next(request, context)
            // A small response fits into the connection's buffers, so it is not counted.
            guard let bytes = response.body.contentLength, bytes > 16 << 10 else { return response }
            return try memory.count(response, as: bytes)
        } catch let error as APIError {
            return error.response
        } catch let error as HTTPError {
            return self.error(for: error, request).response
        } catch is NIOTooManyBytesError {
            return APIError.tooLarge("The request", limit: RequestDocument.longest).response
        } catch let error as HTTPParserError {
            return APIError(error).response
        } catch is CancellationError {
            return APIError.stopping.response
        } catch {
            logger.error("request failed", metadata: ["path": "\(request.uri.path)", "reason": "\(error)"])
            return APIError.failure.response
        }
    }

    private func error(for error: HTTPError, _ request: Request) -> APIError {
        guard error.status == .notFound else {
            return APIError(error.status, .refused, error.body ?? error.status.reasonPhrase)
        }
        let allowed = routes.filter { $0.matches(request.uri.path) }.flatMap(\.methods).map(\.rawValue)
        guard allowed.isEmpty else { return .wrongMethod(request.method.rawValue, allowed: allowed) }
        return .notFound(.noSuchPath, "There is no such path. GET /v1/openapi.json describes all of them.")
    }
}
