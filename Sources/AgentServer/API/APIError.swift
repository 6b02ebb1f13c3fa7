// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// Why a request was refused: a status, a stable code, and a sentence.
package struct APIError: Error, Equatable, Sendable {
    package var status: HTTPResponse.Status
    package var code: String
    package var message: String
    package var headers = HTTPFields()

    package init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func badRequest(_ message: String) -> APIError { APIError(.badRequest, "bad-request", message) }

    static let stopping = APIError(.serviceUnavailable, "stopping", "The agent is about to stop.")

    static let noSuchList = APIError(
        .notFound, "no-such-list", "The agent knows no list of this name. GET /v1/lists names all of them.")

    static func notFound(_ code: String, _ message: String) -> APIError { APIError(.notFound, code, message) }

    static func tooLarge(_ what: String, limit: Int) -> APIError {
        APIError(.contentTooLarge, "too-large", "\(what) is longer than \(limit) bytes.")
    }

    static func forbidden(_ access: Access, _ caller: Caller) -> APIError {
        let message =
            access == .read || caller.access == .none
            ? "You may not read this agent's state. \(caller.howToRead)"
            : "You may not change this agent's state. \(caller.howToChange)"
        return APIError(.forbidden, "forbidden", message)
    }

    static func wrongMethod(_ method: String, allowed: [String]) -> APIError {
        let allowed = allowed.joined(separator: ", ")
        var error = APIError(
            .methodNotAllowed, "method-not-allowed", "This path does not take \(method.prefix(32)): use \(allowed).")
        error.headers[.allow] = allowed
        return error
    }

    /// The document that says so.
    package var response: Response {
        let json: JSON = ["error": ["code": .string(code), "message": .string(message)]]
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: json.text + "\n")))
    }
}

/// Turns every error into a document, and takes bodies off the answers to HEAD.
struct ErrorDocuments: RouterMiddleware {
    let routes: [APIRoute]
    let logger: Logger

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            response = try await next(request, context)
        } catch let error as APIError {
            response = error.response
        } catch let error as HTTPError {
            response = self.error(for: error, request).response
        } catch is NIOTooManyBytesError {
            response = APIError.tooLarge("The request", limit: RequestDocument.longest).response
        } catch let error as HTTPParserError {
            // The connection cannot be used any further.
            throw error
        } catch is CancellationError {
            response = APIError.stopping.response
        } catch {
            logger.error("request failed", metadata: ["path": "\(request.uri.path)", "reason": "\(error)"])
            response = APIError(.internalServerError, "internal", "The agent could not answer: see its log.").response
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func error(for error: HTTPError, _ request: Request) -> APIError {
        guard error.status == .notFound else {
            return APIError(error.status, "refused", error.body ?? error.status.reasonPhrase)
        }
        let allowed = routes.filter { $0.matches(request.uri.path) }.flatMap { route in
            route.method == .get ? ["GET", "HEAD"] : [route.method.rawValue]
        }
        guard allowed.isEmpty else { return .wrongMethod(request.method.rawValue, allowed: allowed) }
        return .notFound("no-such-path", "There is no such path. GET /v1/openapi.json describes all of them.")
    }
}
