// SPDX-License-Identifier: Apache-2.0
import SyncPlan

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
        guard let host = sender.host, isOwn(host) else { throw .misdirected }
        if let origin = sender.origin, origin.lowercased() != "http://\(host.lowercased())" { throw .foreign }
        // `none` is a user who typed the address or followed a link from another program.
        if let site = sender.fetchSite, !["same-origin", "none"].contains(site), !sender.isVisit { throw .foreign }
        guard let token = Self.token(of: sender) else { return anonymous }
        guard let access = tokens.access(with: token) else { throw .unknownToken }
        return access
    }

    /// Whether this is a loopback host with the listener's port.
    private func isOwn(_ host: String) -> Bool {
        // Without a port it means 80.
        let hasPort = host.last != "]" && host.contains(":")
        guard let address = ListenAddress(hasPort ? host.lowercased() : "\(host.lowercased()):80") else { return false }
        return address.isLoopback && address.port == port
    }

    private static func token(of sender: Sender) -> String? {
        if let token = sender.token { return token }
        guard let value = sender.authorization else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        // Another scheme is no token, and one without a token is a wrong one.
        return parts.first?.lowercased() == "bearer" ? parts.dropFirst().first.map(String.init) ?? "" : nil
    }
}

extension WebGuard.Refusal {
    /// The code and the sentence of the answer.
    var answer: (code: String, message: String) {
        switch self {
        case .misdirected:
            (
                "wrong-host",
                "The Host field does not name this listener. Use the loopback address and the port that it listens at."
            )
        case .foreign: ("foreign-origin", "Another site sent this request. Open the dashboard's own address instead.")
        case .unknownToken:
            ("unknown-token", "The token is not valid, or no longer. Run syncagent dashboard to get a new one.")
        }
    }
}
