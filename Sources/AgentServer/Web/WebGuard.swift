// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird

/// Decides what a request to the dashboard's listener may do, by its head alone.
///
/// Any web page that the user's browser has open can send requests to a loopback port. So the listener answers only if
/// the request names a loopback host (a name that was rebound to loopback is not one), comes from no other site, and,
/// to change something, has a token that no other site can know.
struct WebGuard: Sendable {
    /// What the head of a request says of its sender.
    struct Sender: Sendable {
        /// The `Host` field.
        var host: String?
        /// The `Origin` field.
        var origin: String?
        /// The `Sec-Fetch-Site` field.
        var fetchSite: String?
        /// The `Authorization` field.
        var authorization: String?
        /// The `X-Syncagent-Token` field.
        var token: String?
        /// Whether a user goes to the page itself in a window of its own: what sent them there can read nothing of it.
        var isVisit = false
    }

    /// Why a request gets nothing.
    enum Refusal: Error, Equatable {
        /// The `Host` field is not that of this listener.
        case misdirected
        /// Another site had the browser send it.
        case foreign
        /// Its token is not, or no longer, valid.
        case unknownToken
    }

    /// The port of the listener.
    var port: Int
    /// What a request without a token may do.
    var anonymous: Access = .read
    /// The tokens that are valid at present.
    var tokens: DashboardTokens

    /// Decides.
    ///
    /// - Throws: ``Refusal`` if the request gets nothing.
    func access(of sender: Sender) throws(Refusal) -> Access {
        guard let host = sender.host, OwnHost.names(host, port: port) else { throw .misdirected }
        if let origin = sender.origin, origin.asciiLowercased != "http://\(host.asciiLowercased)" { throw .foreign }
        // `none` is a user who typed the address or followed a link from another program.
        if let site = sender.fetchSite, !["same-origin", "none"].contains(site), !sender.isVisit { throw .foreign }
        guard let token = Self.token(of: sender) else { return anonymous }
        guard let access = tokens.access(with: token) else { throw .unknownToken }
        return access
    }

    private static func token(of sender: Sender) -> String? {
        if let token = sender.token { return token }
        guard let value = sender.authorization else { return nil }
        let parts = value.split(atByte: " ", maxSplits: 1)
        // Another scheme is no token, and one without a token is a wrong one.
        return parts.first?.asciiLowercased == "bearer" ? parts.dropFirst().first ?? "" : nil
    }
}

extension WebGuard.Refusal {
    /// What is answered.
    var answer: APIError {
        switch self {
        case .misdirected: .wrongHost
        case .foreign:
            APIError(
                .forbidden, "foreign-origin",
                "Another site sent this request. Open the dashboard's own address instead.")
        case .unknownToken:
            APIError(
                .forbidden, "unknown-token",
                "The token is not valid, or no longer. Run syncagent dashboard to get a new one.")
        }
    }
}
