// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird

package struct APIRoute: Sendable {
    typealias Answer = @Sendable (Request, APIContext) async throws -> Response

    let method: HTTPRequest.Method
    /// The path, with parameters in braces: `/v1/lists/{name}`.
    let path: String
    let access: Access
    private let answer: Answer

    /// A route that needs read access, and refuses a query unless it takes one.
    static func read(
        _ path: String, by method: HTTPRequest.Method = .get, takesQuery: Bool = false, _ answer: @escaping Answer
    ) -> APIRoute {
        APIRoute(method: method, path: "/v1/\(path)", access: .read) { request, context in
            if !takesQuery { _ = try request.query([]) }
            return try await answer(request, context)
        }
    }

    /// A route that needs change access.
    static func change(_ path: String, _ answer: @escaping Answer) -> APIRoute {
        APIRoute(method: .post, path: "/v1/\(path)", access: .change, answer: answer)
    }

    /// Responds to a request if its sender has the access.
    @concurrent func respond(to request: Request, _ context: APIContext) async throws -> Response {
        guard context.caller.access >= access else { throw APIError.forbidden(access, context.caller) }
        return try await answer(request, context)
    }

    func matches(_ path: String) -> Bool {
        let (own, others) = (self.path.split(atByte: "/"), path.split(atByte: "/"))
        return own.count == others.count && zip(own, others).allSatisfy { $0.starts(withBytes: "{") || $0 == $1 }
    }

    /// The methods that the route accepts: with GET, also HEAD.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }

    func add(to router: Router<APIContext>) {
        for method in methods { router.on(RouterPath(path), method: method) { try await respond(to: $0, $1) } }
    }
}
