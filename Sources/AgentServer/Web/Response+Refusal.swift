// SPDX-License-Identifier: Apache-2.0
import Hummingbird

extension Response {
    /// An error in the API's format, with `Cache-Control: no-store`.
    static func refusal(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ headers: HTTPFields = [:]
    ) -> Response {
        var error = APIError(status, other: code, message)
        error.headers = headers
        return refusal(error)
    }

    static func refusal(_ error: APIError) -> Response {
        var response = error.response
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

extension Request {
    /// Answers GET and HEAD, and refuses other methods.
    func reading(_ answer: () async -> Response) async -> Response {
        guard method == .get || method == .head else {
            return .refusal(.methodNotAllowed, "method-not-allowed", "Use GET or HEAD.", [.allow: "GET, HEAD"])
        }
        return await answer()
    }
}

extension HTTPFields.Element.Name {
    static let resourcePolicy = constant("Cross-Origin-Resource-Policy")
    static let referrerPolicy = constant("Referrer-Policy")
    static let fetchSite = constant("Sec-Fetch-Site")
    static let fetchMode = constant("Sec-Fetch-Mode")
    static let fetchDestination = constant("Sec-Fetch-Dest")
    static let openerPolicy = constant("Cross-Origin-Opener-Policy")
    static let token = constant("X-Syncagent-Token")
    static let access = constant("X-Syncagent-Access")
    static let anonymous = constant("X-Syncagent-Anonymous")

    private static func constant(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is a name") }
        return name
    }
}
