// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird

/// Determines the access of a request to the dashboard's listener, from its head.
///
/// Any web page that is open in the user's browser can send requests to a loopback port. So a request must name a
/// loopback host (a name rebound to loopback is refused), come from no other site, and, for a change, have a token that
/// no other site can know.
struct WebGuard: Sendable {
    struct Sender: Sendable {
        var host: String?
        var origin: String?
        /// The field `Sec-Fetch-Site`.
        var fetchSite: String?
        var authorization: String?
        var token: String?
        /// Whether this is a top-level navigation to the page itself, which other sites may start: they cannot read it.
        var isVisit = false
    }

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
    func access(of sender: Sender) throws(Refusal) -> Access {
        guard let host = sender.host, OwnHost.names(host, port: port) else { throw .misdirected }
        if let origin = sender.origin, origin.asciiLowercased != "http://\(host.asciiLowercased)" { throw .foreign }
        // `none`: the user typed the address, or followed a link from another program.
        if let site = sender.fetchSite, !["same-origin", "none"].contains(site), !sender.isVisit { throw .foreign }
        guard let token = Self.token(of: sender) else { return anonymous }
        guard let access = tokens.access(with: token) else { throw .unknownToken }
        return access
    }

    private static func token(of sender: Sender) -> String? {
        if let token = sender.token { return token }
        guard let value = sender.authorization else { return nil }
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
