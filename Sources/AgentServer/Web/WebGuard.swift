// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird

/// Determines the access of a request to the dashboard's listener, from its head.
///
/// Any web page that is open in the user's browser can send requests to a loopback port. So a request must name a
/// loopback host (a name rebound to loopback is refused), come from no other site, and, for a change, have a token that
/// no other site can know.
struct WebGuard: Sendable {
    enum Refusal: Error, Equatable {
        /// The field `Host` does not name this listener.
        case misdirected
        /// Another site made the browser send the request.
        case foreign
        case unknownToken
    }

    var port: Int
    var anonymous: Access = .read
    var tokens: DashboardTokens

    /// - Throws: ``Refusal`` if the request must be refused whatever it asks for.
    func access(of request: Request) throws(Refusal) -> Access {
        guard let host = request.head.authority, OwnHost.names(host, port: port) else { throw .misdirected }
        let origin = request.headers[.origin]
        if let origin, origin.asciiLowercased != "http://\(host.asciiLowercased)" { throw .foreign }
        // `none`: the user typed the address, or followed a link from another program.
        let site = request.headers[.fetchSite] ?? "none"
        guard ["same-origin", "none"].contains(site) || Self.isVisit(request) else { throw .foreign }
        guard let token = Self.token(in: request.headers) else { return anonymous }
        guard let access = tokens.access(with: token) else { throw .unknownToken }
        return access
    }

    /// Whether this is a top-level navigation to the page itself, which other sites may start: they cannot read it.
    private static func isVisit(_ request: Request) -> Bool {
        request.method == .get && request.uri.path == "/" && request.headers[.fetchMode] == "navigate"
            && request.headers[.fetchDestination] == "document"
    }

    private static func token(in fields: HTTPFields) -> String? {
        if let token = fields[.token] { return token }
        guard let value = fields[.authorization] else { return nil }
        let parts = value.split(atByte: " ", maxSplits: 1)
        // Another scheme counts as no token; “Bearer” without a token is an invalid token.
        return parts.first?.asciiLowercased == "bearer" ? parts.dropFirst().first ?? "" : nil
    }
}

extension WebGuard.Refusal {
    var answer: APIError {
        switch self {
        case .misdirected: .wrongHost
        case .foreign:
            APIError(
                .forbidden, .foreignOrigin,
                "Another site sent this request. Open the dashboard's own address instead.")
        case .unknownToken:
            APIError(
                .forbidden, .unknownToken,
                "The token is invalid or has expired. Run syncagent dashboard to get a new one.")
        }
    }
}
